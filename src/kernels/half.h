// SPDX-License-Identifier: BSD-3-Clause
// These functions convert 16-bit floats to float and back, rounded to nearest even. NaNs keep the
// upper bits of their payload and become quiet, as in the processors' own conversions. No step
// depends on how the program has set the processor to treat denormals (for bfloat16: only as much
// as float itself does).
#pragma once

#include <cstdint>

#include "kernels/elements.h"

namespace sumac::plain {

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
