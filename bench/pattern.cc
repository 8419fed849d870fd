// SPDX-License-Identifier: BSD-3-Clause
#include "pattern.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

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
T value(const Pattern& p, std::size_t i, int rank) {
  const std::uint32_t bits = mixed(i, rank, p.seed);
  switch (p.op) {
    case Op::sum: {  // within 7 bits for byte types, up to 127 ranks
      const int most = sizeof(T) == 1 ? std::clamp(127 / p.ranks, 1, 7) : 7;
      return static_cast<T>(bits % static_cast<unsigned>(most + 1));
    }
    case Op::prod:  // one rank holds 2 or 3, all others 1
      return static_cast<T>(mixed(i, -1, p.seed) % static_cast<unsigned>(p.ranks) ==
                                    static_cast<unsigned>(rank)
                                ? 2 + bits % 2
                                : 1);
    case Op::min:
    case Op::max:
      return static_cast<T>(static_cast<int>(bits % 101) - (std::is_signed_v<T> ? 50 : 0));
    case Op::land:
    case Op::lor:
    case Op::lxor:
      return static_cast<T>(bits % 3);
    default:
      return static_cast<T>(bits);
  }
}

// Integers are added and multiplied without sign: MPI's wrap around, and C's may not.
template <typename T>
auto plain(T x) {
  if constexpr (std::is_floating_point_v<T>) {
    return x;
  } else {
    return static_cast<std::uint64_t>(x);
  }
}

template <typename T>
T combined(Op op, T a, T b) {
  if constexpr (!std::is_floating_point_v<T>) {
    switch (op) {
      case Op::land:
        return a && b;
      case Op::lor:
        return a || b;
      case Op::lxor:
        return !a != !b;
      case Op::band:
        return static_cast<T>(a & b);
      case Op::bor:
        return static_cast<T>(a | b);
      case Op::bxor:
        return static_cast<T>(a ^ b);
      default:
        break;
    }
  }
  switch (op) {
    case Op::prod:
      return static_cast<T>(plain(a) * plain(b));
    case Op::min:
      return std::min(a, b);
    case Op::max:
      return std::max(a, b);
    default:
      return static_cast<T>(plain(a) + plain(b));
  }
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
      period[i] = combined(p.op, period[i], value<T>(p, i, rank));
  return period;
}

template <typename T>
std::size_t mismatches(const std::vector<T>& period, const void* buffer, std::size_t count) {
  const T* const data = static_cast<const T*>(buffer);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < count; i++) wrong += data[i] != period[i % period.size()];
  return wrong;
}

// Calls f with a value of the C++ type that `type` names.
template <typename F>
auto with_type(DType type, F f) {
  switch (type) {
    case DType::i8:
      return f(std::int8_t{});
    case DType::u8:
      return f(std::uint8_t{});
    case DType::i16:
      return f(std::int16_t{});
    case DType::u16:
      return f(std::uint16_t{});
    case DType::i32:
      return f(std::int32_t{});
    case DType::u32:
      return f(std::uint32_t{});
    case DType::i64:
      return f(std::int64_t{});
    case DType::u64:
      return f(std::uint64_t{});
    case DType::f32:
      return f(float{});
    default:
      return f(double{});
  }
}

}  // namespace

void Pattern::fill(void* buffer, std::size_t count, int rank) const {
  with_type(type, [&](auto zero) {
    using T = decltype(zero);
    const std::vector<T> period = one_period<T>(*this, count, rank);
    for (std::size_t i = 0; i < count; i += kPeriod)
      std::memcpy(static_cast<T*>(buffer) + i, period.data(),
                  std::min(kPeriod, count - i) * sizeof(T));
  });
}

std::size_t Pattern::differing(const void* buffer, std::size_t count, int rank) const {
  return with_type(type, [&](auto zero) {
    return mismatches(one_period<decltype(zero)>(*this, count, rank), buffer, count);
  });
}

std::size_t Pattern::wrong(const void* buffer, std::size_t count) const {
  return with_type(type, [&](auto zero) {
    return mismatches(one_period_reduced<decltype(zero)>(*this, count), buffer, count);
  });
}

void fill_rounding(DType type, void* buffer, std::size_t count, int rank) {
  with_type(type, [&](auto zero) {
    using T = decltype(zero);
    for (std::size_t i = 0; i < count; i++)
      static_cast<T*>(buffer)[i] = static_cast<T>(mixed(i, rank, 7)) / static_cast<T>(3);
  });
}

}  // namespace sumac::bench
