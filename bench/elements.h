// SPDX-License-Identifier: BSD-3-Clause
// The element types as C++ types, and the result of each operation on two elements. Written simply
// and independently of Sumac's kernels, which are checked against it.
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

// float16 and bfloat16, exact for integers of few bits, the only values that the benchmark uses.
// Rounding, infinities and subnormal numbers are left out.
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
using Bfloat16 = ShortFloat<7, 127>;

template <typename T>
struct Complex {
  T re, im;
  bool operator==(const Complex&) const = default;
};

// Has the layout of MPI's pair types, with the same gaps.
template <typename V, typename I>
struct Pair {
  V value;
  I index;
  bool operator==(const Pair&) const = default;
};

// Converts to unsigned: integers of MPI wrap around, but overflow of signed integers is undefined
// in C++.
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

// The result of the op, which is_defined() for the type. Any other op returns the first element.
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
[[gnu::always_inline]] inline Pair<V, I> combined(Op op, Pair<V, I> a, Pair<V, I> b) {
  const bool first = op == Op::minloc ? a.value < b.value : a.value > b.value;
  if (a.value == b.value) return {a.value, std::min(a.index, b.index)};
  return first ? a : b;
}

template <typename T>
struct Type {
  using Element = T;
};

// Calls f with the Type<> of `type`.
template <typename F>
auto with_type(DType type, F f) {
  switch (type) {
    case DType::i8:
      return f(Type<std::int8_t>{});
    case DType::u8:
      return f(Type<std::uint8_t>{});
    case DType::i16:
      return f(Type<std::int16_t>{});
    case DType::u16:
      return f(Type<std::uint16_t>{});
    case DType::i32:
      return f(Type<std::int32_t>{});
    case DType::u32:
      return f(Type<std::uint32_t>{});
    case DType::i64:
      return f(Type<std::int64_t>{});
    case DType::u64:
      return f(Type<std::uint64_t>{});
    case DType::i128:
      return f(Type<__int128>{});
    case DType::f16:
      return f(Type<Float16>{});
    case DType::bf16:
      return f(Type<Bfloat16>{});
    case DType::f32:
      return f(Type<float>{});
    case DType::f64:
      return f(Type<double>{});
    case DType::long_double:
      return f(Type<long double>{});
    case DType::f128:
      return f(Type<__float128>{});
    case DType::c32:
      return f(Type<Complex<float>>{});
    case DType::c64:
      return f(Type<Complex<double>>{});
    case DType::c_long_double:
      return f(Type<Complex<long double>>{});
    case DType::c128:
      return f(Type<Complex<__float128>>{});
    case DType::i32_i32:
      return f(Type<Pair<std::int32_t, std::int32_t>>{});
    case DType::i64_i64:
      return f(Type<Pair<std::int64_t, std::int64_t>>{});
    case DType::f32_i32:
      return f(Type<Pair<float, std::int32_t>>{});
    case DType::f32_f32:
      return f(Type<Pair<float, float>>{});
    case DType::f64_f64:
      return f(Type<Pair<double, double>>{});
    case DType::i16_i32:
      return f(Type<Pair<std::int16_t, std::int32_t>>{});
    case DType::i64_i32:
      return f(Type<Pair<std::int64_t, std::int32_t>>{});
    case DType::f64_i32:
      return f(Type<Pair<double, std::int32_t>>{});
    case DType::long_double_i32:
    case DType::none:  // never passed
      break;
  }
  return f(Type<Pair<long double, std::int32_t>>{});
}

}  // namespace sumac::bench
