// SPDX-License-Identifier: BSD-3-Clause
// This is element.h for plain numbers: integers and IEEE floating point.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include "base/types.h"

namespace sumac::oracle {

template <class Float>
using BitsOf = std::conditional_t<sizeof(Float) == 4, std::uint32_t, std::uint64_t>;

template <class To, class From>
To bit_cast(const From& from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof(To));
  return to;
}

template <class Float>
constexpr BitsOf<Float> kQuietBit = BitsOf<Float>{1} << (std::numeric_limits<Float>::digits - 2);

template <class Float>
bool is_signaling(Float x) {
  return std::isnan(x) && (bit_cast<BitsOf<Float>>(x) & kQuietBit<Float>) == 0;
}

template <class Float>
Float quiet(Float nan) {
  return bit_cast<Float>(
      static_cast<BitsOf<Float>>(bit_cast<BitsOf<Float>>(nan) | kQuietBit<Float>));
}

// Returns the sum or product as the processor defines it: the left one of two NaNs survives, made
// quiet; on Arm a signalling one has precedence. It is written out, since a compiler may exchange
// the operands of + and *.
template <class Float>
Float arithmetic(Op op, Float a, Float b) {
#if defined(__aarch64__)
  if (is_signaling(a)) return quiet(a);
  if (is_signaling(b)) return quiet(b);
#endif
  if (std::isnan(a)) return quiet(a);
  if (std::isnan(b)) return quiet(b);
  volatile Float left = a;
  return op == Op::sum ? left + b : left * b;
}

template <class T>
T integer(Op op, T a, T b) {
  __extension__ using Wide = unsigned __int128;
  const Wide x = static_cast<Wide>(a);
  const Wide y = static_cast<Wide>(b);
  switch (op) {
    case Op::sum:
      return static_cast<T>(x + y);
    case Op::prod:
      return static_cast<T>(x * y);
    case Op::land:
      return a && b ? 1 : 0;
    case Op::lor:
      return a || b ? 1 : 0;
    case Op::lxor:
      return !a != !b ? 1 : 0;
    case Op::band:
      return static_cast<T>(x & y);
    case Op::bor:
      return static_cast<T>(x | y);
    case Op::bxor:
      return static_cast<T>(x ^ y);
    case Op::min:
    case Op::max:
    case Op::minloc:
    case Op::maxloc:
    case Op::none:
      break;
  }
  return a;
}

template <class T>
T number(Op op, T a, T b) {
  if (op == Op::min) return a < b ? a : b;
  if (op == Op::max) return a > b ? a : b;
  if constexpr (std::is_floating_point_v<T>) {
    return arithmetic(op, a, b);
  } else {
    return integer(op, a, b);
  }
}

// Returns values at which a kernel is likely to be wrong. There are many NaNs, so that they meet
// often.
template <class T>
std::vector<T> special_values() {
  using Limits = std::numeric_limits<T>;
  if constexpr (std::is_floating_point_v<T>) {
    const T inf = Limits::infinity();
    const auto nan = [&](int payload) {
      return bit_cast<T>(static_cast<BitsOf<T>>(bit_cast<BitsOf<T>>(inf) + kQuietBit<T> + payload));
    };
    return {T(0),
            -T(0),
            T(1),
            -T(1),
            inf,
            -inf,
            Limits::denorm_min(),
            nan(0),
            -nan(0),
            nan(77),
            -nan(78),
            nan(-79),
            -nan(-80),
            -Limits::denorm_min(),
            Limits::max(),
            Limits::lowest(),
            Limits::min()};
  } else {
    return {T(0), T(1), static_cast<T>(-1), Limits::min(), Limits::max(), T(2), T(16)};
  }
}

// Draws a special value one time in four, else a zero, a small number or any bits.
template <class T>
T any_number(std::mt19937_64& random) {
  static const std::vector<T> specials = special_values<T>();
  const std::uint64_t bits = random();
  const std::uint64_t kind = random() % 4;
  T value = 0;
  if (kind == 0) value = specials[bits % specials.size()];
  if (kind == 1) value = static_cast<T>(static_cast<std::int64_t>(bits % 9) - 4);
  if (kind == 2) std::memcpy(&value, &bits, sizeof(T));
  return value;
}

template <class T>
T special_number(std::mt19937_64& random) {
  static const std::vector<T> specials = special_values<T>();
  return specials[random() % specials.size()];
}

}  // namespace sumac::oracle
