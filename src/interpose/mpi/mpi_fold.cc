// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/mpi/mpi_fold.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/cpu.h"
#include "interpose/mpi/packing.h"

namespace sumac {

namespace {

// Copies up to a cache line. A single number is by far the most frequent.
inline void copy_small(std::byte* to, const std::byte* from, std::size_t bytes) {
  if (bytes == sizeof(double)) [[likely]] {
    std::memcpy(to, from, sizeof(double));
  } else {
    std::memcpy(to, from, bytes);
  }
}

}  // namespace

void MpiFold::fold_small(std::byte* output, int ranks, std::size_t count, Source source,
                         const void* context) {
  const std::size_t bytes = count * layout_.size;
  std::byte *left = small_[0], *right = small_[1];
  copy_small(left, source(context, 0), bytes);
  for (int r = 1; r < ranks; ++r) {
    copy_small(right, source(context, r), bytes);
    call(left, right, count);
    std::swap(left, right);
  }
  copy_small(output, left, bytes);
}

void MpiFold::fold(std::byte* output, int ranks, std::size_t count, Source source,
                   const void* context) {
  if (layout_.dense && count * layout_.size <= kCacheLine) {
    return fold_small(output, ranks, count, source, context);
  }
  // Elements far apart in memory are folded a few at a time.
  constexpr std::size_t kMostSpan = 1 << 20;
  std::size_t block = count;
  while (block > 1 && layout_.span(block) > kMostSpan) block = (block + 1) / 2;
  for (std::size_t first = 0; first < count; first += block) {
    const std::size_t n = std::min(block, count - first), offset = first * layout_.size;
    auto [left, right] = operands(n);
    load(left, source(context, 0) + offset, n);
    for (int r = 1; r < ranks; ++r) {
      load(right, source(context, r) + offset, n);
      call(left, right, n);
      std::swap(left, right);
    }
    store(output + offset, left, n);
  }
}

MpiFold::Operands MpiFold::operands(std::size_t count) {
  // The first element lies at a cache line, whatever precedes it.
  const auto place = round_up(static_cast<std::size_t>(layout_.first(count)), kCacheLine);
  const std::size_t each = round_up(place + layout_.span(count), kCacheLine);
  std::byte* memory = operands_.get(2 * each, comm_);
  return {memory + place, memory + each + place};
}

void MpiFold::load(std::byte* to, const std::byte* packed, std::size_t count) {
  const std::size_t bytes = count * layout_.size;
  if (layout_.dense) {
    std::memcpy(to, packed, bytes);
  } else {
    unpack_elements({{to, static_cast<MpiCount>(count), type_}, comm_}, bytes, packed);
  }
}

void MpiFold::store(std::byte* packed, std::byte* from, std::size_t count) {
  const std::size_t bytes = count * layout_.size;
  if (layout_.dense) {
    std::memcpy(packed, from, bytes);
  } else {
    pack_elements({{from, static_cast<MpiCount>(count), type_}, comm_}, bytes, packed);
  }
}

void MpiFold::call(void* left, void* right, std::size_t count) {
  if (exception_ || error_ != kMpiSuccess) [[unlikely]]
    return;
  error_ = exception_.reduce_local(left, right, static_cast<int>(count), type_, op_);
}

int MpiFold::end() {
  operands_.trim();
  packed_.trim();
  return std::exchange(error_, kMpiSuccess);
}

void MpiFold::forget() {
  operands_.free();
  packed_.free();
}

}  // namespace sumac
