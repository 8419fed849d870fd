// SPDX-License-Identifier: BSD-3-Clause
#include "pattern.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "elements.h"

namespace sumac::bench {
namespace {

// A well mixed number for each (i, rank, seed).
std::uint32_t mixed(std::size_t i, int rank, unsigned seed) {
  auto x = static_cast<std::uint32_t>(i) * 0x9E3779B1u ^
           (static_cast<std::uint32_t>(rank) + 1) * 0x85EBCA77u ^ seed * 0xC2B2AE3Du;
  x ^= x >> 15;
  x *= 0x2C1B3C6Du;
  x ^= x >> 12;
  x *= 0x297A2D39u;
  return x ^ x >> 15;
}

template <typename T>
constexpr bool has_sign() {
  if constexpr (kIsInteger<T>) return static_cast<T>(-1) < static_cast<T>(0);
  return true;
}

// Whether this rank is the one whose factor is not 1.
bool has_factor(const Pattern& p, std::size_t i, int rank) {
  return mixed(i, -1, p.seed) % static_cast<unsigned>(p.ranks) == static_cast<unsigned>(rank);
}

template <typename T>
T number(std::int64_t n) {
  return static_cast<T>(n);
}
template <>
Float16 number<Float16>(std::int64_t n) {
  return Float16(static_cast<float>(n));
}
template <>
BFloat16 number<BFloat16>(std::int64_t n) {
  return BFloat16(static_cast<float>(n));
}

template <typename T>
T value(Type<T>, const Pattern& p, std::size_t i, int rank) {
  const std::uint32_t bits = mixed(i, rank, p.seed);
  switch (p.op) {
    case Op::sum: {  // within 7 bits for byte types, up to 127 ranks
      const int most = sizeof(T) == 1 ? std::clamp(127 / p.ranks, 1, 7) : 7;
      return number<T>(bits % static_cast<unsigned>(most + 1));
    }
    case Op::prod:
      return number<T>(has_factor(p, i, rank) ? 2 + bits % 2 : 1);
    case Op::min:
    case Op::max:
      return number<T>(static_cast<int>(bits % 101) - (has_sign<T>() ? 50 : 0));
    case Op::land:
    case Op::lor:
    case Op::lxor:
      return number<T>(bits % 3);
    case Op::band:
    case Op::bor:
    case Op::bxor:
    case Op::minloc:
    case Op::maxloc:
    case Op::none:
      break;
  }
  return number<T>(bits);
}

template <typename T>
Complex<T> value(Type<Complex<T>>, const Pattern& p, std::size_t i, int rank) {
  const std::uint32_t bits = mixed(i, rank, p.seed);
  if (p.op == Op::sum) return {number<T>(bits % 8), number<T>(bits / 8 % 8)};
  if (has_factor(p, i, rank)) return {number<T>(2 + bits % 2), number<T>(1 + bits / 2 % 3)};
  return {number<T>(1), number<T>(0)};
}

// Of few values, so that the index decides often.
template <typename V, typename I>
PairOf<V, I> value(Type<PairOf<V, I>>, const Pattern& p, std::size_t i, int rank) {
  const std::uint32_t bits = mixed(i, rank, p.seed);
  return {number<V>(static_cast<int>(bits % 5) - 2), number<I>(bits / 5 % 100)};
}

template <typename T>
std::vector<T> one_period(const Pattern& p, std::size_t count, int rank) {
  std::vector<T> period(std::min(count, kPeriod));
  for (std::size_t i = 0; i < period.size(); i++) period[i] = value(Type<T>{}, p, i, rank);
  return period;
}

template <typename T>
std::vector<T> one_period_reduced(const Pattern& p, std::size_t count) {
  std::vector<T> period = one_period<T>(p, count, 0);
  for (int rank = 1; rank < p.ranks; rank++)
    for (std::size_t i = 0; i < period.size(); i++)
      period[i] = combined(p.op, period[i], value(Type<T>{}, p, i, rank));
  return period;
}

template <typename T>
void repeat(const std::vector<T>& period, void* buffer, std::size_t count) {
  for (std::size_t i = 0; i < count; i += period.size())
    std::memcpy(static_cast<T*>(buffer) + i, period.data(),
                std::min(period.size(), count - i) * sizeof(T));
}

template <typename T>
std::size_t mismatches(const std::vector<T>& period, const void* buffer, std::size_t count) {
  std::size_t wrong = 0;
  for (std::size_t start = 0; start < count; start += period.size()) {
    const T* const data = static_cast<const T*>(buffer) + start;
    const std::size_t length = std::min(period.size(), count - start);
    for (std::size_t i = 0; i < length; i++) wrong += !(data[i] == period[i]);
  }
  return wrong;
}

// x divided by 3, in each part of the element.
template <typename T>
requires kIsNumber<T> T third(Type<T>, std::uint32_t x) {
  return static_cast<T>(static_cast<T>(x) / static_cast<T>(3));
}
template <typename T>
Complex<T> third(Type<Complex<T>>, std::uint32_t x) {
  return {third(Type<T>{}, x), third(Type<T>{}, ~x)};
}

template <typename T>
T one(Type<T>) {
  return number<T>(1);
}
template <typename T>
Complex<T> one(Type<Complex<T>>) {
  return {1, 0};
}
template <typename V, typename I>
PairOf<V, I> one(Type<PairOf<V, I>>) {
  return {1, 1};
}

}  // namespace

void Pattern::fill(void* buffer, std::size_t count, int rank) const {
  with_type(type,
            [&]<typename T>(Type<T>) { repeat(one_period<T>(*this, count, rank), buffer, count); });
}

std::size_t Pattern::differing(const void* buffer, std::size_t count, int rank) const {
  return with_type(type, [&]<typename T>(Type<T>) {
    return mismatches(one_period<T>(*this, count, rank), buffer, count);
  });
}

std::size_t Pattern::wrong(const void* buffer, std::size_t count, std::size_t first) const {
  if (count == 0) return 0;
  return with_type(type, [&]<typename T>(Type<T>) {
    std::vector<T> period = one_period_reduced<T>(*this, first + count);
    const auto begin = period.begin() + static_cast<std::ptrdiff_t>(first % period.size());
    std::rotate(period.begin(), begin, period.end());
    return mismatches(period, buffer, count);
  });
}

void fill_rounding(DType type, void* buffer, std::size_t count, int rank) {
  with_type(type, [&]<typename T>(Type<T> element) {
    if constexpr (requires { third(element, 1u); })
      for (std::size_t i = 0; i < count; i++)
        static_cast<T*>(buffer)[i] = third(element, mixed(i, rank, 7));
  });
}

void fill_lasting(DType type, Op op, void* buffer, std::size_t count) {
  std::memset(buffer, 0, count * size_of(type));
  if (op != Op::prod) return;
  with_type(type, [&]<typename T>(Type<T> element) {
    repeat(std::vector<T>{one(element)}, buffer, count);
  });
}

}  // namespace sumac::bench
