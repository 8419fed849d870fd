// SPDX-License-Identifier: BSD-3-Clause
// These are the sum and product of ordered.h, for vectors.
#include "hwy/highway.h"
#include "kernels/ordered.h"

#if defined(SUMAC_KERNELS_ORDERED_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SUMAC_KERNELS_ORDERED_INL_H_
#undef SUMAC_KERNELS_ORDERED_INL_H_
#else
#define SUMAC_KERNELS_ORDERED_INL_H_
#endif

#undef SUMAC_ORDERED_VECTORS
#if HWY_TARGET >= HWY_SSE4  // or SSSE3: newer sets have lower numbers
#define SUMAC_ORDERED_VECTORS SUMAC_ORDERED_SSE
#else
#define SUMAC_ORDERED_VECTORS SUMAC_ORDERED_AVX
#endif

#if SUMAC_VECTOR_TARGET

HWY_BEFORE_NAMESPACE();
namespace sumac {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <class V>
HWY_INLINE V ordered_add(V a, V b) {
  constexpr bool kSingle = sizeof(hn::LaneType<V>) == 4;
#if HWY_ARCH_X86
  if constexpr (kSingle) SUMAC_ORDERED_VECTORS("addps", a.raw, b.raw);
  if constexpr (!kSingle) SUMAC_ORDERED_VECTORS("addpd", a.raw, b.raw);
#elif HWY_TARGET == HWY_SVE
  if constexpr (kSingle) SUMAC_ORDERED_ARM("fadd", ".s", a, b);
  if constexpr (!kSingle) SUMAC_ORDERED_ARM("fadd", ".d", a, b);
#elif HWY_ARCH_ARM_A64
  constexpr bool kWhole = sizeof(a.raw) == 16;
  if constexpr (kSingle && kWhole) SUMAC_ORDERED_ARM("fadd", ".4s", a.raw, b.raw);
  if constexpr (kSingle && !kWhole) SUMAC_ORDERED_ARM("fadd", ".2s", a.raw, b.raw);
  if constexpr (!kSingle && kWhole) SUMAC_ORDERED_ARM("fadd", ".2d", a.raw, b.raw);
  if constexpr (!kSingle && !kWhole) asm("fadd %d0, %d0, %d1" : "+w"(a.raw) : "w"(b.raw));
#else
  a = hn::Add(a, b);
#endif
  return a;
}

template <class V>
HWY_INLINE V ordered_mul(V a, V b) {
  constexpr bool kSingle = sizeof(hn::LaneType<V>) == 4;
#if HWY_ARCH_X86
  if constexpr (kSingle) SUMAC_ORDERED_VECTORS("mulps", a.raw, b.raw);
  if constexpr (!kSingle) SUMAC_ORDERED_VECTORS("mulpd", a.raw, b.raw);
#elif HWY_TARGET == HWY_SVE
  if constexpr (kSingle) SUMAC_ORDERED_ARM("fmul", ".s", a, b);
  if constexpr (!kSingle) SUMAC_ORDERED_ARM("fmul", ".d", a, b);
#elif HWY_ARCH_ARM_A64
  constexpr bool kWhole = sizeof(a.raw) == 16;
  if constexpr (kSingle && kWhole) SUMAC_ORDERED_ARM("fmul", ".4s", a.raw, b.raw);
  if constexpr (kSingle && !kWhole) SUMAC_ORDERED_ARM("fmul", ".2s", a.raw, b.raw);
  if constexpr (!kSingle && kWhole) SUMAC_ORDERED_ARM("fmul", ".2d", a.raw, b.raw);
  if constexpr (!kSingle && !kWhole) asm("fmul %d0, %d0, %d1" : "+w"(a.raw) : "w"(b.raw));
#else
  a = hn::Mul(a, b);
#endif
  return a;
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace sumac
HWY_AFTER_NAMESPACE();

#endif  // SUMAC_VECTOR_TARGET
#endif  // per-target include guard
