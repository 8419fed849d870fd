// SPDX-License-Identifier: BSD-3-Clause
// Sum and product of floating-point numbers take their operands in the order given. The order
// matters if both are NaN: the processor keeps the left one. Compilers take + and * for commutative
// and may exchange the operands in one loop and not in the next; so the instructions are written
// out here.
#pragma once

#include <type_traits>

// Each computes a = a <instruction> b, for x86 without and with AVX, and for Arm with the operands'
// suffix.
#define SUMAC_ORDERED_SSE(instruction, a, b) asm(instruction " %1, %0" : "+x"(a) : "x"(b))
#define SUMAC_ORDERED_AVX(instruction, a, b) \
  asm("v" instruction " %2, %1, %0" : "=v"(a) : "v"(a), SUMAC_ORDERED_FROM(b))
#define SUMAC_ORDERED_ARM(instruction, suffix, a, b) \
  asm(instruction " %0" suffix ", %0" suffix ", %1" suffix : "+w"(a) : "w"(b))

// With AVX the right operand may stay in memory, aligned or not. Clang would always put it there.
#if defined(__clang__)
#define SUMAC_ORDERED_FROM(b) "v"(b)
#else
#define SUMAC_ORDERED_FROM(b) "vm"(b)
#endif

#if defined(__AVX__)
#define SUMAC_ORDERED_X86 SUMAC_ORDERED_AVX
#else
#define SUMAC_ORDERED_X86 SUMAC_ORDERED_SSE
#endif

namespace sumac::ordered {

#if defined(__x86_64__) || defined(__aarch64__)
template <class Float>
inline constexpr bool kHasInstructions =
    std::is_same_v<Float, float> || std::is_same_v<Float, double>;
#else
template <class Float>
inline constexpr bool kHasInstructions = false;
#endif

template <class Float>
Float add(Float a, Float b) {
  if constexpr (!kHasInstructions<Float>) return a + b;
#if defined(__x86_64__)
  if constexpr (sizeof(Float) == 4) SUMAC_ORDERED_X86("addss", a, b);
  if constexpr (sizeof(Float) == 8) SUMAC_ORDERED_X86("addsd", a, b);
#elif defined(__aarch64__)
  if constexpr (sizeof(Float) == 4) asm("fadd %s0, %s0, %s1" : "+w"(a) : "w"(b));
  if constexpr (sizeof(Float) == 8) asm("fadd %d0, %d0, %d1" : "+w"(a) : "w"(b));
#endif
  return a;
}

template <class Float>
Float mul(Float a, Float b) {
  if constexpr (!kHasInstructions<Float>) return a * b;
#if defined(__x86_64__)
  if constexpr (sizeof(Float) == 4) SUMAC_ORDERED_X86("mulss", a, b);
  if constexpr (sizeof(Float) == 8) SUMAC_ORDERED_X86("mulsd", a, b);
#elif defined(__aarch64__)
  if constexpr (sizeof(Float) == 4) asm("fmul %s0, %s0, %s1" : "+w"(a) : "w"(b));
  if constexpr (sizeof(Float) == 8) asm("fmul %d0, %d0, %d1" : "+w"(a) : "w"(b));
#endif
  return a;
}

}  // namespace sumac::ordered
