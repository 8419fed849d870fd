// SPDX-License-Identifier: BSD-3-Clause
// Each function says what an operation does to a vector of numbers, bit for bit as plain_ops.h does
// to the elements.
#include "hwy/highway.h"
#include "kernels/lanes.h"
#include "kernels/ordered-inl.h"
#include "kernels/plain_ops.h"
#include "kernels/vector_complex-inl.h"
#include "kernels/vector_half-inl.h"
#include "kernels/vector_pairs-inl.h"

#if defined(SUMAC_KERNELS_VECTOR_OPS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SUMAC_KERNELS_VECTOR_OPS_INL_H_
#undef SUMAC_KERNELS_VECTOR_OPS_INL_H_
#else
#define SUMAC_KERNELS_VECTOR_OPS_INL_H_
#endif

#if SUMAC_VECTOR_TARGET

HWY_BEFORE_NAMESPACE();
namespace sumac {
namespace HWY_NAMESPACE {

template <class T>
using IfNumber = std::enable_if_t<std::is_arithmetic_v<T>>*;

template <class T, class D, class V, IfNumber<T> = nullptr>
HWY_INLINE V apply(plain::Sum, Tag<T>, D /*d*/, V a, V b) {
  if constexpr (std::is_floating_point_v<hn::TFromD<D>>) {
    return ordered_add(a, b);
  } else {
    return hn::Add(a, b);
  }
}

template <class T, class D, class V, IfNumber<T> = nullptr>
HWY_INLINE V apply(plain::Prod, Tag<T>, D d, V a, V b) {
  if constexpr (sizeof(hn::TFromD<D>) == 1) {
    // No processor multiplies bytes: even and odd bytes are multiplied as 16-bit elements.
    const hn::Repartition<std::uint16_t, D> d16;
    const auto a16 = hn::BitCast(d16, a);
    const auto b16 = hn::BitCast(d16, b);
    const auto low = hn::Set(d16, 0x00FF);
    const auto even = hn::And(hn::Mul(a16, b16), low);
    const auto odd = hn::Mul(hn::ShiftRight<8>(a16), hn::AndNot(low, b16));
    return hn::BitCast(d, hn::Or(even, odd));
  } else if constexpr (std::is_floating_point_v<hn::TFromD<D>>) {
    return ordered_mul(a, b);
  } else {
    return hn::Mul(a, b);
  }
}

// x86's own float min and max are exactly `a < b ? a : b` and `a > b ? a : b`; other processors'
// have rules of their own for NaN and zeros.
template <class T, class D, class V, IfNumber<T> = nullptr>
HWY_INLINE V apply(plain::Min, Tag<T>, D /*d*/, V a, V b) {
  if constexpr (HWY_ARCH_X86 || !std::is_floating_point_v<hn::TFromD<D>>) {
    return hn::Min(a, b);
  } else {
    return hn::IfThenElse(hn::Lt(a, b), a, b);
  }
}

template <class T, class D, class V, IfNumber<T> = nullptr>
HWY_INLINE V apply(plain::Max, Tag<T>, D /*d*/, V a, V b) {
  if constexpr (HWY_ARCH_X86 || !std::is_floating_point_v<hn::TFromD<D>>) {
    return hn::Max(a, b);
  } else {
    return hn::IfThenElse(hn::Gt(a, b), a, b);
  }
}

// Returns 1 for every element that is not 0. An unsigned minimum does that in one instruction if
// the set has one; AVX2 and older sets have none for 64 bits.
template <class D, class V>
HWY_INLINE V truth(D d, V v) {
  const V one = hn::Set(d, 1);
  if constexpr (HWY_ARCH_X86 && sizeof(hn::TFromD<D>) == 8 && HWY_MAX_BYTES < 64) {
    return hn::AndNot(hn::VecFromMask(d, hn::Eq(v, hn::Zero(d))), one);
  } else {
    return hn::Min(v, one);
  }
}

template <class T, class D, class V, IfNumber<T> = nullptr>
HWY_INLINE V apply(plain::Land, Tag<T>, D d, V a, V b) {
  return hn::And(truth(d, a), truth(d, b));
}

template <class T, class D, class V, IfNumber<T> = nullptr>
HWY_INLINE V apply(plain::Lor, Tag<T>, D d, V a, V b) {
  return truth(d, hn::Or(a, b));
}

template <class T, class D, class V, IfNumber<T> = nullptr>
HWY_INLINE V apply(plain::Lxor, Tag<T>, D d, V a, V b) {
  return hn::Xor(truth(d, a), truth(d, b));
}

template <class T, class D, class V, IfNumber<T> = nullptr>
HWY_INLINE V apply(plain::Band, Tag<T>, D /*d*/, V a, V b) {
  return hn::And(a, b);
}

template <class T, class D, class V, IfNumber<T> = nullptr>
HWY_INLINE V apply(plain::Bor, Tag<T>, D /*d*/, V a, V b) {
  return hn::Or(a, b);
}

template <class T, class D, class V, IfNumber<T> = nullptr>
HWY_INLINE V apply(plain::Bxor, Tag<T>, D /*d*/, V a, V b) {
  return hn::Xor(a, b);
}

// Applies the operation to a single element of one lane.
template <class Op, class Element, class T = LaneOf<Element>>
HWY_INLINE T apply_to_one(Op op, Tag<Element> element, T a, T b) {
  if constexpr (std::is_integral_v<Element>) {
    return Op::one(a, b);
  } else {
    // plain_ops.h uses instructions that must not be mixed with AVX. Halves are handled in pairs of
    // lanes.
    const hn::FixedTag<T, is_half<Element> ? 2 : 1> d;
    return hn::GetLane(apply(op, element, d, hn::Set(d, a), hn::Set(d, b)));
  }
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace sumac
HWY_AFTER_NAMESPACE();

#endif  // SUMAC_VECTOR_TARGET
#endif  // per-target include guard
