// SPDX-License-Identifier: BSD-3-Clause
// The language has no numbers of these types: 16-bit floats, complex numbers, pairs of a value and
// an index, and long double, whose value has fewer bytes than it occupies.
#pragma once

#include <cfloat>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace sumac {

struct Float16 {
  static constexpr std::uint16_t kInfinity = 0x7C00;
  std::uint16_t bits;
};

struct BFloat16 {
  static constexpr std::uint16_t kInfinity = 0x7F80;
  std::uint16_t bits;
};

// A long double's value has this many bytes. In the 80-bit format it has 10 of 16 bytes; the others
// are a gap.
inline constexpr std::size_t kLongDoubleBytes = LDBL_MANT_DIG == 64 ? 10 : sizeof(long double);

template <class Float>
struct Complex {
  Float re;
  Float im;
};

// A pair is laid out as a C struct of a value and an index. Bytes that belong to neither are gaps.
template <class ValueType, class IndexType, std::size_t kIndexAt, std::size_t kBytes>
struct Pair {
  using Value = ValueType;
  using Index = IndexType;
  static constexpr std::size_t kValueBytes =
      std::is_same_v<Value, long double> ? kLongDoubleBytes : sizeof(Value);
  static constexpr bool kHasGaps = kValueBytes + sizeof(Index) < kBytes;

  Value value() const { return at<Value>(0); }
  Index index() const { return at<Index>(kIndexAt); }
  // Takes over value and index. Gaps keep their bytes.
  void take(const Pair& other) {
    __builtin_memcpy(bytes, other.bytes, kValueBytes);
    __builtin_memcpy(bytes + kIndexAt, other.bytes + kIndexAt, sizeof(Index));
  }
  unsigned char bytes[kBytes];

 private:
  template <class T>
  T at(std::size_t offset) const {
    T result;
    __builtin_memcpy(&result, bytes + offset, sizeof(T));
    return result;
  }
};

template <class Value, class Index>
struct Laid {
  struct Struct {
    Value value;
    Index index;
  };
  using Type = Pair<Value, Index, offsetof(Struct, index), sizeof(Struct)>;
};
template <class Value, class Index>
using PairOf = typename Laid<Value, Index>::Type;

using LongDouble = long double;
__extension__ using Int128 = __int128;
__extension__ using Unsigned128 = unsigned __int128;
#if defined(__x86_64__)
__extension__ using Float128 = __float128;
#else
using Float128 = long double;
#endif

template <class Integer>
struct UnsignedOf : std::make_unsigned<Integer> {};
template <>
struct UnsignedOf<Int128> {
  using type = Unsigned128;
};

// This is like the standard's traits, which leave out types that are not standard.
template <class T>
inline constexpr bool is_integer =
    std::is_integral_v<T> || std::is_same_v<T, Int128> || std::is_same_v<T, Unsigned128>;
template <class T>
inline constexpr bool is_half = std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>;

}  // namespace sumac

namespace sumac::plain {

// These functions convert 16-bit floats to float and back, rounded to nearest even. NaNs keep the
// upper bits of their payload and become quiet, as in the processors' own conversions. No step
// depends on how the program has set the processor to treat denormals (for bfloat16: only as much
// as float itself does).
inline float float_of_bits(std::uint32_t bits) {
  float result;
  __builtin_memcpy(&result, &bits, sizeof result);
  return result;
}

inline std::uint32_t bits_of(float value) {
  std::uint32_t result;
  __builtin_memcpy(&result, &value, sizeof result);
  return result;
}

inline constexpr std::uint32_t kRebias = 112U << 23;  // the exponents' biases: 127 and 15
inline constexpr float kSmallestHalf = 1.0F / (1 << 24);

inline float promote(Float16 half) {
  const std::uint32_t magnitude = half.bits & 0x7FFFU;
  const std::uint32_t sign = (half.bits & 0x8000U) << 16;
  std::uint32_t bits = (magnitude << 13) + kRebias;
  if (magnitude >= Float16::kInfinity) bits += kRebias;
#if defined(__aarch64__)
  // The processor does the same: it prefers signalling NaNs.
  if (magnitude > Float16::kInfinity) bits |= 0x00400000U;
#endif
  if (magnitude < 0x0400) bits = bits_of(static_cast<float>(magnitude) * kSmallestHalf);
  return float_of_bits(bits | sign);
}

inline float promote(BFloat16 half) { return float_of_bits(std::uint32_t{half.bits} << 16); }

inline Float16 demote(float value, Float16 /*to*/) {
  const std::uint32_t bits = bits_of(value);
  const std::uint32_t magnitude = bits & 0x7FFFFFFFU;
  std::uint32_t half;
  if (magnitude > 0x7F800000U) {
    half = 0x7E00U | (magnitude >> 13 & 0x3FFU);
  } else if (magnitude < 0x38800000U) {
    half = bits_of(float_of_bits(magnitude) + 0.5F) - bits_of(0.5F);
  } else {
    half = (magnitude - kRebias + 0xFFFU + (magnitude >> 13 & 1U)) >> 13;
    if (half > Float16::kInfinity) half = Float16::kInfinity;
  }
  return {static_cast<std::uint16_t>(half | (bits >> 16 & 0x8000U))};
}

inline BFloat16 demote(float value, BFloat16 /*to*/) {
  const std::uint32_t bits = bits_of(value);
  const bool is_nan = (bits & 0x7FFFFFFFU) > 0x7F800000U;
  const std::uint32_t rounded = bits + 0x7FFFU + (bits >> 16 & 1U);
  return {static_cast<std::uint16_t>(is_nan ? bits >> 16 | 0x40U : rounded >> 16)};
}

// Returns a < b without a conversion; false if either is a NaN.
template <class Half>
bool is_less(Half a, Half b) {
  const std::int32_t magnitude_a = a.bits & 0x7FFF, magnitude_b = b.bits & 0x7FFF;
  const std::int32_t signed_a = a.bits & 0x8000 ? -magnitude_a : magnitude_a;
  const std::int32_t signed_b = b.bits & 0x8000 ? -magnitude_b : magnitude_b;
  return (signed_a < signed_b) & (magnitude_a <= Half::kInfinity) &
         (magnitude_b <= Half::kInfinity);
}

}  // namespace sumac::plain
