// SPDX-License-Identifier: BSD-3-Clause
#include "gaps.h"

#include <cfloat>
#include <cstring>

#include "elements.h"

namespace sumac::bench {
namespace {

constexpr std::uint32_t bytes(std::size_t from, std::size_t size) {
  return static_cast<std::uint32_t>(((std::uint64_t{1} << size) - 1) << from);
}

// An x87 number is 10 bytes in 16.
template <typename T>
constexpr std::size_t kDataSize = std::is_same_v<T, long double>&& LDBL_MANT_DIG == 64 ? 10
                                                                                       : sizeof(T);

template <typename T>
std::uint32_t data_of(Type<T>) {
  return bytes(0, kDataSize<T>);
}

template <typename T>
std::uint32_t data_of(Type<Complex<T>>) {
  return bytes(0, kDataSize<T>) | bytes(sizeof(T), kDataSize<T>);
}

template <typename V, typename I>
std::uint32_t data_of(Type<PairOf<V, I>>) {
  return bytes(0, kDataSize<V>) | bytes(offsetof(decltype(PairOf<V, I>{}), index), sizeof(I));
}

bool same_data(const std::byte* a, const std::byte* b, std::uint32_t data) {
  for (std::size_t i = 0; data >> i != 0; i++)
    if ((data >> i & 1) != 0 && a[i] != b[i]) return false;
  return true;
}

}  // namespace

std::uint32_t data_bytes(DType type) {
  return with_type(type, [](auto element) { return data_of(element); });
}

std::size_t differing_elements(DType type, const void* a, const void* b, std::size_t count) {
  const std::size_t size = size_of(type);
  const std::uint32_t data = data_bytes(type);
  if (data == bytes(0, size) && std::memcmp(a, b, count * size) == 0) return 0;
  std::size_t differing = 0;
  for (std::size_t i = 0; i < count; i++)
    differing += !same_data(static_cast<const std::byte*>(a) + i * size,
                            static_cast<const std::byte*>(b) + i * size, data);
  return differing;
}

}  // namespace sumac::bench
