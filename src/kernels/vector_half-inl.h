// SPDX-License-Identifier: BSD-3-Clause
// Vectors of 16-bit floats give the same bits as elements.h. Sums and products are formed in float
// and rounded; min and max compare the bits as integers.
#include "hwy/highway.h"
#include "kernels/lanes.h"
#include "kernels/ordered-inl.h"
#include "kernels/plain_ops.h"

#if defined(SUMAC_KERNELS_VECTOR_HALF_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SUMAC_KERNELS_VECTOR_HALF_INL_H_
#undef SUMAC_KERNELS_VECTOR_HALF_INL_H_
#else
#define SUMAC_KERNELS_VECTOR_HALF_INL_H_
#endif

#if SUMAC_VECTOR_TARGET

HWY_BEFORE_NAMESPACE();
namespace sumac {
namespace HWY_NAMESPACE {

// True if the set has instructions that convert float16.
constexpr bool kConvertsHalves = (HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2) || HWY_TARGET == HWY_NEON;

// Below, vectors of 32 bits hold one half in the lower or the upper 16 bits of each lane.
template <class D>
HWY_INLINE auto as_float(D /*d32*/, hn::Vec<D> bits) {
  return hn::BitCast(hn::RebindToFloat<D>(), bits);
}

// promote makes the half in the lower bits of each lane a float; the upper bits must be zero.
// demote is the inverse, with zero upper bits.

#if HWY_TARGET == HWY_SVE
template <class D>
HWY_INLINE svfloat32_t promote(Float16, D /*d*/, svuint32_t half) {
  return svcvt_f32_f16_x(svptrue_b32(), svreinterpret_f16_u32(half));
}

template <class DF, class D>
HWY_INLINE svuint32_t demote(Float16, D /*d*/, DF /*df*/, svfloat32_t value) {
  return svreinterpret_u32_f16(svcvt_f16_f32_x(svptrue_b32(), value));
}
#else
template <class D>
HWY_INLINE auto promote(Float16, D d, hn::Vec<D> half) {
  const hn::RebindToFloat<D> df;
  const hn::RebindToSigned<D> di;
  const auto magnitude = hn::And(half, hn::Set(d, 0x7FFF));
  const auto rebias = hn::Set(d, plain::kRebias);
  const auto infinity = hn::Set(di, Float16::kInfinity);
  const auto normal = hn::Add(hn::ShiftLeft<13>(magnitude), rebias);
  const auto is_finite = hn::RebindMask(d, hn::Lt(hn::BitCast(di, magnitude), infinity));
  const auto large = hn::IfThenElse(is_finite, normal, hn::Add(normal, rebias));
  const auto small = hn::BitCast(
      d, hn::Mul(hn::ConvertTo(df, hn::BitCast(di, magnitude)), hn::Set(df, plain::kSmallestHalf)));
  const auto is_small = hn::RebindMask(d, hn::Lt(hn::BitCast(di, magnitude), hn::Set(di, 0x0400)));
  const auto sign = hn::ShiftLeft<16>(hn::AndNot(hn::Set(d, 0x7FFF), half));
  return as_float(d, hn::Or(hn::IfThenElse(is_small, small, large), sign));
}

template <class DF, class D>
HWY_INLINE hn::Vec<D> demote(Float16, D d, DF df, hn::Vec<DF> value) {
  const hn::RebindToSigned<D> di;
  const auto bits = hn::BitCast(d, value);
  const auto magnitude = hn::And(bits, hn::Set(d, 0x7FFFFFFFU));
  const auto compare = hn::BitCast(di, magnitude);
  const auto odd = hn::And(hn::ShiftRight<13>(magnitude), hn::Set(d, 1));
  const auto rounded =
      hn::ShiftRight<13>(hn::Add(hn::Sub(magnitude, hn::Set(d, plain::kRebias - 0xFFFU)), odd));
  const auto infinity = hn::Set(di, Float16::kInfinity);
  const auto large = hn::BitCast(d, hn::Min(hn::BitCast(di, rounded), infinity));
  const auto half = hn::Set(df, 0.5F);
  const auto small =
      hn::Sub(hn::BitCast(d, hn::Add(hn::BitCast(df, magnitude), half)), hn::BitCast(d, half));
  const auto nan =
      hn::Or(hn::And(hn::ShiftRight<13>(magnitude), hn::Set(d, 0x3FF)), hn::Set(d, 0x7E00));
  const auto is_small = hn::RebindMask(d, hn::Lt(compare, hn::Set(di, 0x38800000)));
  const auto is_nan = hn::RebindMask(d, hn::Gt(compare, hn::Set(di, 0x7F800000)));
  const auto result = hn::IfThenElse(is_nan, nan, hn::IfThenElse(is_small, small, large));
  return hn::Or(result, hn::And(hn::ShiftRight<16>(bits), hn::Set(d, 0x8000)));
}
#endif

// Rounds to the half in the upper bits; the lower bits are undefined. A NaN is quiet, since it
// comes from a calculation.
template <class DF, class D>
HWY_INLINE hn::Vec<D> round_to_upper(D d, DF /*df*/, hn::Vec<DF> value) {
  const auto bits = hn::BitCast(d, value);
  const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(d, 1));
  const auto half = hn::Add(odd, hn::Set(d, 0x7FFF));
  const auto is_number = hn::RebindMask(d, hn::Eq(value, value));
  return hn::Add(bits, hn::IfThenElseZero(is_number, half));
}

template <class V>
HWY_INLINE V calculate(plain::Sum, V a, V b) {
  return ordered_add(a, b);
}
template <class V>
HWY_INLINE V calculate(plain::Prod, V a, V b) {
  return ordered_mul(a, b);
}

// Applies the operation to even and odd halves separately.
template <class Op, class D>
HWY_INLINE hn::Vec<D> calculate_by_bits(Op op, Float16 half, D d, hn::Vec<D> a, hn::Vec<D> b) {
  const hn::Repartition<std::uint32_t, D> d32;
  const hn::RebindToFloat<decltype(d32)> df;
  const auto lower = hn::Set(d32, 0xFFFF);
  const auto a32 = hn::BitCast(d32, a);
  const auto b32 = hn::BitCast(d32, b);
  const auto even = calculate(op, promote(half, d32, hn::And(a32, lower)),
                              promote(half, d32, hn::And(b32, lower)));
  const auto odd = calculate(op, promote(half, d32, hn::ShiftRight<16>(a32)),
                             promote(half, d32, hn::ShiftRight<16>(b32)));
  return hn::BitCast(
      d, hn::Or(demote(half, d32, df, even), hn::ShiftLeft<16>(demote(half, d32, df, odd))));
}

// A bfloat16 is the upper half of a float.
template <class Op, class D>
HWY_INLINE hn::Vec<D> calculate_by_bits(Op op, BFloat16, D d, hn::Vec<D> a, hn::Vec<D> b) {
  const hn::Repartition<std::uint32_t, D> d32;
  const hn::RebindToFloat<decltype(d32)> df;
  const auto upper = hn::Set(d32, 0xFFFF0000U);
  const auto a32 = hn::BitCast(d32, a);
  const auto b32 = hn::BitCast(d32, b);
  const auto even =
      calculate(op, as_float(d32, hn::ShiftLeft<16>(a32)), as_float(d32, hn::ShiftLeft<16>(b32)));
  const auto odd =
      calculate(op, as_float(d32, hn::And(a32, upper)), as_float(d32, hn::And(b32, upper)));
  return hn::BitCast(d, hn::IfVecThenElse(upper, round_to_upper(d32, df, odd),
                                          hn::ShiftRight<16>(round_to_upper(d32, df, even))));
}

// Uses the processor's conversions, in two parts if the float vector is too large for a register.
template <class Op, class D>
HWY_INLINE hn::Vec<D> calculate_by_conversion(Op op, D d, hn::Vec<D> a, hn::Vec<D> b) {
  if constexpr (2 * sizeof(a.raw) <= HWY_MAX_BYTES) {
    const hn::Rebind<hwy::float16_t, D> dh;
    const hn::Rebind<float, D> df;
    const auto result =
        calculate(op, hn::PromoteTo(df, hn::BitCast(dh, a)), hn::PromoteTo(df, hn::BitCast(dh, b)));
    return hn::BitCast(d, hn::DemoteTo(dh, result));
  } else {
    const hn::Half<D> half;
    return hn::Combine(
        d, calculate_by_conversion(op, half, hn::UpperHalf(half, a), hn::UpperHalf(half, b)),
        calculate_by_conversion(op, half, hn::LowerHalf(half, a), hn::LowerHalf(half, b)));
  }
}

template <class Op, class Half, class D>
HWY_INLINE hn::Vec<D> calculate_halves(Op op, Half half, D d, hn::Vec<D> a, hn::Vec<D> b) {
  if constexpr (kConvertsHalves && std::is_same_v<Half, Float16>) {
    return calculate_by_conversion(op, d, a, b);
  } else {
    return calculate_by_bits(op, half, d, a, b);
  }
}
// Takes a where it is less (kLess) or greater than b, and b elsewhere.
template <bool kLess, class Half, class D>
HWY_INLINE hn::Vec<D> choose_half(D d, hn::Vec<D> a, hn::Vec<D> b) {
  const hn::RebindToSigned<D> di;
  const auto bits = hn::Set(di, 0x7FFF);
  const auto sa = hn::BitCast(di, a);
  const auto sb = hn::BitCast(di, b);
  const auto magnitude_a = hn::And(sa, bits);
  const auto magnitude_b = hn::And(sb, bits);
  const auto negative_a = hn::ShiftRight<15>(sa);
  const auto negative_b = hn::ShiftRight<15>(sb);
  const auto number_a = hn::Sub(hn::Xor(magnitude_a, negative_a), negative_a);
  const auto number_b = hn::Sub(hn::Xor(magnitude_b, negative_b), negative_b);
  const auto is_nan = hn::Gt(hn::Max(magnitude_a, magnitude_b), hn::Set(di, Half::kInfinity));
  const auto wanted = kLess ? hn::Lt(number_a, number_b) : hn::Lt(number_b, number_a);
  return hn::BitCast(d, hn::IfThenElse(hn::AndNot(is_nan, wanted), sa, sb));
}

template <class Op, class Half, class D, std::enable_if_t<is_half<Half>>* = nullptr>
HWY_INLINE hn::Vec<D> apply(Op op, Tag<Half>, D d, hn::Vec<D> a, hn::Vec<D> b) {
  if constexpr (std::is_same_v<Op, plain::Min> || std::is_same_v<Op, plain::Max>) {
    return choose_half<std::is_same_v<Op, plain::Min>, Half>(d, a, b);
  } else {
    return calculate_halves(op, Half(), d, a, b);
  }
}

// These are for float16 on processors with float16 arithmetic. Their instructions give the same
// bits as the functions above for every pair of elements, denormals and NaNs included.
#if HWY_TARGET == HWY_AVX3 && defined(SUMAC_HAS_AVX512_FP16)
template <class Op, class D>
HWY_INLINE hn::Vec<D> apply(Op, Tag<NativeFloat16>, D /*d*/, hn::Vec<D> a, hn::Vec<D> b) {
  if constexpr (std::is_same_v<Op, plain::Sum>) SUMAC_ORDERED_AVX("addph", a.raw, b.raw);
  if constexpr (std::is_same_v<Op, plain::Prod>) SUMAC_ORDERED_AVX("mulph", a.raw, b.raw);
  if constexpr (std::is_same_v<Op, plain::Min>) SUMAC_ORDERED_AVX("minph", a.raw, b.raw);
  if constexpr (std::is_same_v<Op, plain::Max>) SUMAC_ORDERED_AVX("maxph", a.raw, b.raw);
  return a;
}
#endif

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace sumac
HWY_AFTER_NAMESPACE();

#endif  // SUMAC_VECTOR_TARGET
#endif  // per-target include guard
