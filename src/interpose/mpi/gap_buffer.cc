// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/mpi/gap_buffer.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "base/cpu.h"
#include "interpose/mpi/mpi_functions.h"
#include "interpose/mpi/world.h"
#include "observe/log.h"

namespace sumac {
namespace {

// Copies pairs of a value and an int, which lie as in a C struct: the int at a multiple of its
// size.
template <std::size_t value>
void copy_pairs(std::size_t extent, std::byte* to, const std::byte* from, std::size_t count) {
  constexpr std::size_t kIndex = sizeof(std::int32_t);
  constexpr std::size_t kPlace = (value + kIndex - 1) / kIndex * kIndex;
  for (std::size_t i = 0; i < count; ++i, to += extent, from += extent) {
    std::memcpy(to, from, value);
    std::memcpy(to + kPlace, from + kPlace, kIndex);
  }
}

}  // namespace

void copy_elements(const TypeInfo& type, std::byte* to, const std::byte* from, std::size_t count) {
  if (!type.has_gaps()) {
    std::memcpy(to, from, type.extent * count);
    return;
  }
  const DType dtype = type.dtype;
  if (dtype == DType::i16_i32) {
    copy_pairs<sizeof(std::int16_t)>(type.extent, to, from, count);
  } else if (dtype == DType::i64_i32 || dtype == DType::f64_i32) {
    copy_pairs<sizeof(double)>(type.extent, to, from, count);
  } else if (dtype == DType::long_double_i32) {
    copy_pairs<sizeof(long double)>(type.extent, to, from, count);
  } else {
    std::abort();  // no other type has a kernel and gaps
  }
}

StagedResult::StagedResult(const TypeInfo& type, std::byte*& output, std::size_t count,
                           MpiComm comm)
    : type_(type),
      output_(output),
      stage_(static_cast<std::byte*>(std::malloc(count * type.extent))),
      count_(count) {
  if (!stage_) {
    log_error("error[no-memory]: no memory for a result of %zu bytes; ending the job",
              count * type.extent);
    end_job(comm);
  }
  output = stage_;
}

StagedResult::~StagedResult() { std::free(stage_); }

void StagedResult::deliver() const { copy_elements(type_, output_, stage_, count_); }

void GrowingMemory::free() {
  std::free(memory_);
  memory_ = nullptr;
  bytes_ = 0;
}

void GrowingMemory::grow(std::size_t bytes, MpiComm comm) {
  const std::size_t wanted = round_up(std::max(bytes, 2 * bytes_), kPage);
  free();
  memory_ = static_cast<std::byte*>(std::aligned_alloc(kPage, wanted));
  if (!memory_) {
    log_error("error[no-memory]: no memory to reduce %zu bytes; ending the job", bytes);
    end_job(comm);
    return;
  }
  // The program's function may copy gaps of its type before anything is written to them.
  std::memset(memory_, 0, wanted);
  bytes_ = wanted;
}

}  // namespace sumac
