// SPDX-License-Identifier: BSD-3-Clause
// The element types as C++ types, and what each operation makes of two elements: written plainly,
// and apart from Sumac's kernels, which are checked against it.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "base/types.h"

namespace sumac::bench {

template <typename T>
inline constexpr bool kIsInteger = std::is_integral_v<T> || std::is_same_v<T, __int128>;

template <typename T>
inline constexpr bool kIsNumber =
    kIsInteger<T> || std::is_floating_point_v<T> || std::is_same_v<T, __float128>;

// float16 and bfloat16. Exact for integers of few bits, all that the benchmark puts into them;
// rounding, infinities and subnormal numbers are left out.
template <int mantissa, int bias>
struct ShortFloat {
  std::uint16_t bits = 0;

  ShortFloat() = default;
  explicit ShortFloat(float x) {
    const auto wide = std::bit_cast<std::uint32_t>(x);
    const int exponent = static_cast<int>(wide >> 23 & 255) - 127 + bias;
    const int magnitude =
        x == 0 ? 0 : exponent << mantissa | static_cast<int>((wide & 0x7FFFFF) >> (23 - mantissa));
    bits = static_cast<std::uint16_t>(wide >> 31 << 15 | static_cast<unsigned>(magnitude));
  }
  explicit operator float() const {
    const int magnitude = bits & 0x7FFF, fraction = magnitude & ((1 << mantissa) - 1);
    if (magnitude == 0) return 0;
    const float size = std::ldexp(static_cast<float>(fraction + (1 << mantissa)),
                                  (magnitude >> mantissa) - bias - mantissa);
    return bits >> 15 ? -size : size;
  }
  bool operator==(const ShortFloat&) const = default;
};
using Float16 = ShortFloat<10, 15>;
using BFloat16 = ShortFloat<7, 127>;

using Int128 = __int128;
using LongDouble = long double;
using Float128 = __float128;

template <typename T>
struct Complex {
  T re, im;
  bool operator==(const Complex&) const = default;
};

// Laid out as MPI's pairs are, with the same gaps.
template <typename V, typename I>
struct PairOf {
  V value;
  I index;
  bool operator==(const PairOf&) const = default;
};

// Integers are added and multiplied without sign: MPI's wrap around, and C's may not.
template <typename T>
[[gnu::always_inline]] inline auto plain(T x) {
  if constexpr (std::is_same_v<T, __int128>) {
    return static_cast<unsigned __int128>(x);
  } else if constexpr (kIsInteger<T>) {
    return static_cast<std::uint64_t>(x);
  } else {
    return x;
  }
}

// The op of two elements of a type that is_defined() with it. Any other op is none: the first.
template <typename T>
[[gnu::always_inline]] inline T combined(Op op, T a, T b) {
  if constexpr (kIsInteger<T>) {
    switch (op) {
      case Op::land:
        return static_cast<T>(a && b);
      case Op::lor:
        return static_cast<T>(a || b);
      case Op::lxor:
        return static_cast<T>(!a != !b);
      case Op::band:
        return static_cast<T>(a & b);
      case Op::bor:
        return static_cast<T>(a | b);
      case Op::bxor:
        return static_cast<T>(a ^ b);
      case Op::sum:
      case Op::prod:
      case Op::min:
      case Op::max:
      case Op::minloc:
      case Op::maxloc:
      case Op::none:
        break;
    }
  }
  switch (op) {
    case Op::sum:
      return static_cast<T>(plain(a) + plain(b));
    case Op::prod:
      return static_cast<T>(plain(a) * plain(b));
    case Op::min:
      return a < b ? a : b;
    case Op::max:
      return a > b ? a : b;
    case Op::land:
    case Op::lor:
    case Op::lxor:
    case Op::band:
    case Op::bor:
    case Op::bxor:
    case Op::minloc:
    case Op::maxloc:
    case Op::none:
      break;
  }
  return a;
}

template <int mantissa, int bias>
ShortFloat<mantissa, bias> combined(Op op, ShortFloat<mantissa, bias> a,
                                    ShortFloat<mantissa, bias> b) {
  return ShortFloat<mantissa, bias>(combined(op, static_cast<float>(a), static_cast<float>(b)));
}

template <typename T>
[[gnu::always_inline]] inline Complex<T> combined(Op op, Complex<T> a, Complex<T> b) {
  if (op == Op::sum) return {a.re + b.re, a.im + b.im};
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

template <typename V, typename I>
[[gnu::always_inline]] inline PairOf<V, I> combined(Op op, PairOf<V, I> a, PairOf<V, I> b) {
  const bool first = op == Op::minloc ? a.value < b.value : a.value > b.value;
  if (a.value == b.value) return {a.value, std::min(a.index, b.index)};
  return first ? a : b;
}

template <typename T>
struct Type {
  using Element = T;
};

// Calls f with the Type<> that `type` names.
template <typename F>
auto with_type(DType type, F f) {
  switch (type) {
#define SUMAC_ELEMENT(dtype, name, bytes, kind, kernels, ...) \
  case DType::dtype:                                          \
    return f(Type<__VA_ARGS__>{});
#include "base/types.def"
    case DType::none:  // nobody asks
      break;
  }
  return f(Type<std::int8_t>{});
}

}  // namespace sumac::bench
