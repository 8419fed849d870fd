// SPDX-License-Identifier: BSD-3-Clause
#include "data.h"

#include <algorithm>
#include <cstring>

#include "pattern.h"

namespace sumac::replay {
namespace {

constexpr std::int64_t kPackedAtOnce = std::int64_t{1} << 24;  // bytes

std::int64_t elements_at_once(const Type& type) {
  return std::max<std::int64_t>(1, kPackedAtOnce / std::max<std::int64_t>(1, type.size));
}

std::uint64_t next(std::uint64_t& state) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state;
}

void fill_bytes(std::byte* bytes, std::size_t count, std::uint64_t& state) {
  for (std::size_t i = 0; i < count; i += sizeof state) {
    const std::uint64_t word = next(state);
    std::memcpy(bytes + i, &word, std::min(sizeof word, count - i));
  }
}

std::uint64_t add_to(std::uint64_t hash, const std::byte* bytes, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    hash = (hash ^ static_cast<std::uint64_t>(bytes[i])) * 0x100000001b3u;
  }
  return hash;
}

}  // namespace

void Element::fill(std::byte* address, std::int64_t count) const {
  std::uint64_t state = 0x9e3779b97f4a7c15u * (call + 1) + static_cast<std::uint64_t>(rank);
  const auto elements = static_cast<std::size_t>(count);
  const auto size = static_cast<std::size_t>(type->size);
  if (op != Op::none && type->is_truth) {
    std::memset(address, 0, elements * size);
    for (std::size_t i = 0; i < elements; ++i) address[i * size] = std::byte(next(state) & 1);
  } else if (op != Op::none && type->element != DType::none) {
    bench::Pattern{type->element, op, ranks, call}.fill(address, elements, rank);
  } else if (op == Op::none && type->dense()) {
    fill_bytes(address, elements * size, state);
  } else if (op == Op::none) {
    std::vector<std::byte> packed;
    for (std::int64_t i = 0, part; i < count; i += part) {
      part = std::min(count - i, elements_at_once(*type));
      packed.resize(static_cast<std::size_t>(part) * size);
      fill_bytes(packed.data(), packed.size(), state);
      int at = 0;
      MPI_Unpack(packed.data(), static_cast<int>(packed.size()), &at, address + i * type->extent,
                 static_cast<int>(part), type->handle, MPI_COMM_SELF);
    }
  }
}

std::uint64_t hash_of(const std::byte* address, std::int64_t count, const Type& type,
                      std::uint64_t hash) {
  if (type.dense()) return add_to(hash, address, static_cast<std::size_t>(count * type.size));
  std::vector<std::byte> packed;
  for (std::int64_t i = 0, part; i < count; i += part) {
    part = std::min(count - i, elements_at_once(type));
    packed.resize(static_cast<std::size_t>(part * type.size));
    int at = 0;
    MPI_Pack(address + i * type.extent, static_cast<int>(part), type.handle, packed.data(),
             static_cast<int>(packed.size()), &at, MPI_COMM_SELF);
    hash = add_to(hash, packed.data(), packed.size());
  }
  return hash;
}

}  // namespace sumac::replay
