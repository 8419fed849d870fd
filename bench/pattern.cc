// SPDX-License-Identifier: BSD-3-Clause
#include "pattern.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

#include "testing/element.h"

namespace sumac::bench {
namespace {

using oracle::Element;

// A pseudo-random number for each (i, rank, seed).
std::uint32_t mixed(std::size_t i, int rank, unsigned seed) {
  auto x = static_cast<std::uint32_t>(i) * 0x9E3779B1u ^
           (static_cast<std::uint32_t>(rank) + 1) * 0x85EBCA77u ^ seed * 0xC2B2AE3Du;
  x ^= x >> 15;
  x *= 0x2C1B3C6Du;
  x ^= x >> 12;
  x *= 0x297A2D39u;
  return x ^ x >> 15;
}

// Exactly one rank's factor is not 1. True on that rank.
bool has_factor(const Pattern& p, std::size_t i, int rank) {
  return mixed(i, -1, p.seed) % static_cast<unsigned>(p.ranks) == static_cast<unsigned>(rank);
}

// The value of a number: of a real part, or of a pair's value.
template <typename T>
std::int64_t real_part(const Pattern& p, std::size_t i, int rank) {
  const std::uint32_t bits = mixed(i, rank, p.seed);
  switch (p.op) {
    case Op::sum: {  // 127 ranks' values of a byte type fit into 7 bits
      const int most = sizeof(T) == 1 ? std::clamp(127 / p.ranks, 1, 7) : 7;
      return bits % static_cast<unsigned>(most + 1);
    }
    case Op::prod:
      return has_factor(p, i, rank) ? 2 + bits % 2 : 1;
    case Op::min:
    case Op::max:
      return static_cast<int>(bits % 101) - (std::is_unsigned_v<T> ? 0 : 50);
    case Op::land:
    case Op::lor:
    case Op::lxor:
      return bits % 3;
    case Op::minloc:
    case Op::maxloc:  // few values, so that the index often decides
      return static_cast<int>(bits % 5) - 2;
    case Op::band:
    case Op::bor:
    case Op::bxor:
    case Op::none:
      break;
  }
  return bits;
}

// Of a complex number the imaginary part, of a pair the index.
std::int64_t second_part(const Pattern& p, std::size_t i, int rank) {
  const std::uint32_t bits = mixed(i, rank, p.seed);
  if (p.op == Op::sum) return bits / 8 % 8;
  if (p.op == Op::prod) return has_factor(p, i, rank) ? 1 + bits / 2 % 3 : 0;
  return bits / 5 % 100;
}

template <typename T>
T value(const Pattern& p, std::size_t i, int rank) {
  return Element<T>::whole(real_part<T>(p, i, rank), second_part(p, i, rank));
}

template <typename T>
std::vector<T> one_period(const Pattern& p, std::size_t count, int rank) {
  std::vector<T> period(std::min(count, kPeriod));
  for (std::size_t i = 0; i < period.size(); i++) period[i] = value<T>(p, i, rank);
  return period;
}

template <typename T>
std::vector<T> one_period_reduced(const Pattern& p, std::size_t count) {
  std::vector<T> period = one_period<T>(p, count, 0);
  for (int rank = 1; rank < p.ranks; rank++)
    for (std::size_t i = 0; i < period.size(); i++)
      period[i] = Element<T>::apply(p.op, period[i], value<T>(p, i, rank));
  return period;
}

template <typename T>
void repeat(const std::vector<T>& period, void* buffer, std::size_t count) {
  for (std::size_t i = 0; i < count; i += period.size())
    std::memcpy(static_cast<T*>(buffer) + i, period.data(),
                std::min(period.size(), count - i) * sizeof(T));
}

template <typename T>
std::size_t mismatches(DType type, const std::vector<T>& period, const void* buffer,
                       std::size_t count) {
  std::size_t wrong = 0;
  for (std::size_t start = 0; start < count; start += period.size())
    wrong += oracle::count_differing(type, static_cast<const T*>(buffer) + start, period.data(),
                                     std::min(period.size(), count - start));
  return wrong;
}

// A third of x, rounded; of a complex number both parts are. True for types that round so.
template <typename T>
bool put_third(std::uint32_t x, T& third) {
  if constexpr (std::is_floating_point_v<T> || std::is_same_v<T, Float128>) {
    third = static_cast<T>(x) / 3;
  } else if constexpr (std::is_same_v<T, oracle::LongDouble>) {
    third = T().with(static_cast<long double>(x) / 3);
  } else if constexpr (requires { third.re; }) {
    return put_third(x, third.re) && put_third(~x, third.im);
  } else {
    return false;
  }
  return true;
}

}  // namespace

void Pattern::fill(void* buffer, std::size_t count, int rank) const {
  oracle::with_element(
      type, [&]<typename T>(T) { repeat(one_period<T>(*this, count, rank), buffer, count); });
}

std::size_t Pattern::differing(const void* buffer, std::size_t count, int rank) const {
  return oracle::with_element(type, [&]<typename T>(T) {
    return mismatches(type, one_period<T>(*this, count, rank), buffer, count);
  });
}

std::size_t Pattern::wrong(const void* buffer, std::size_t count, std::size_t first) const {
  if (count == 0) return 0;
  return oracle::with_element(type, [&]<typename T>(T) {
    std::vector<T> period = one_period_reduced<T>(*this, first + count);
    const auto begin = period.begin() + static_cast<std::ptrdiff_t>(first % period.size());
    std::rotate(period.begin(), begin, period.end());
    return mismatches(type, period, buffer, count);
  });
}

void fill_rounding(DType type, void* buffer, std::size_t count, int rank) {
  oracle::with_element(type, [&]<typename T>(T third) {
    for (std::size_t i = 0; i < count; i++)
      if (put_third(mixed(i, rank, 7), third)) static_cast<T*>(buffer)[i] = third;
  });
}

void fill_lasting(DType type, Op op, void* buffer, std::size_t count) {
  std::memset(buffer, 0, count * size_of(type));
  if (op != Op::prod) return;
  oracle::with_element(
      type, [&]<typename T>(T) { repeat(std::vector<T>{Element<T>::whole(1, 0)}, buffer, count); });
}

}  // namespace sumac::bench
