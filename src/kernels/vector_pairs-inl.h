// SPDX-License-Identifier: BSD-3-Clause
// In vectors of pairs, even lanes are values and odd ones indices. Both are spread over both lanes
// before they are compared, so that no index is ever taken for a float: that could raise a
// floating-point exception.
#include "hwy/highway.h"
#include "kernels/lanes.h"
#include "kernels/plain_ops.h"

#if defined(SUMAC_KERNELS_VECTOR_PAIRS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SUMAC_KERNELS_VECTOR_PAIRS_INL_H_
#undef SUMAC_KERNELS_VECTOR_PAIRS_INL_H_
#else
#define SUMAC_KERNELS_VECTOR_PAIRS_INL_H_
#endif

#if SUMAC_VECTOR_TARGET

HWY_BEFORE_NAMESPACE();
namespace sumac {
namespace HWY_NAMESPACE {

// Returns the lanes as numbers to compare: floats, or integers that fill the upper part of the
// lane.
template <class Number, class D>
HWY_INLINE auto as_numbers(D /*d*/, hn::Vec<D> lanes) {
  constexpr std::size_t kLaneBytes = sizeof(hn::TFromD<D>);
  if constexpr (std::is_floating_point_v<Number>) {
    static_assert(sizeof(Number) == kLaneBytes);
    return hn::BitCast(hn::Rebind<Number, D>(), lanes);
  } else {
    const hn::RebindToSigned<D> to;
    constexpr int kShift = 8 * static_cast<int>(kLaneBytes - sizeof(Number));
    if constexpr (kShift == 0) return hn::BitCast(to, lanes);
    if constexpr (kShift != 0) return hn::BitCast(to, hn::ShiftLeft<kShift>(lanes));
  }
}

// Returns a mask with all bits of values and indices, and none of gaps.
template <class P, class D>
HWY_INLINE hn::Vec<D> field_bits(D d) {
  using Lane = hn::TFromD<D>;
  constexpr int kBits = 8 * sizeof(Lane);
  constexpr auto kAll = static_cast<Lane>(~Lane{0});
  const auto value = hn::Set(d, kAll >> (kBits - 8 * static_cast<int>(sizeof(typename P::Value))));
  const auto index = hn::Set(d, kAll >> (kBits - 8 * static_cast<int>(sizeof(typename P::Index))));
  return hn::OddEven(index, value);
}

// Takes a where `better` is set, or where values are equal and a's index is lower, and b elsewhere.
// Gaps are b's.
template <class P, class D, class MaskOf>
HWY_INLINE hn::Vec<D> choose_pairs(D d, hn::Vec<D> a, hn::Vec<D> b, MaskOf better) {
  const auto value_a = as_numbers<typename P::Value>(d, hn::DupEven(a));
  const auto value_b = as_numbers<typename P::Value>(d, hn::DupEven(b));
  const auto lower = hn::Lt(as_numbers<typename P::Index>(d, hn::DupOdd(a)),
                            as_numbers<typename P::Index>(d, hn::DupOdd(b)));
  const auto tie = hn::And(hn::RebindMask(d, hn::Eq(value_a, value_b)), hn::RebindMask(d, lower));
  const auto take = hn::Or(hn::RebindMask(d, better(value_a, value_b)), tie);
  if constexpr (P::kHasGaps) a = hn::IfVecThenElse(field_bits<P>(d), a, b);
  return hn::IfThenElse(take, a, b);
}

template <class P, class D>
HWY_INLINE hn::Vec<D> apply(plain::MinLoc, Tag<P>, D d, hn::Vec<D> a, hn::Vec<D> b) {
  return choose_pairs<P>(d, a, b, [](auto x, auto y) HWY_ATTR { return hn::Lt(x, y); });
}

template <class P, class D>
HWY_INLINE hn::Vec<D> apply(plain::MaxLoc, Tag<P>, D d, hn::Vec<D> a, hn::Vec<D> b) {
  return choose_pairs<P>(d, a, b, [](auto x, auto y) HWY_ATTR { return hn::Gt(x, y); });
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace sumac
HWY_AFTER_NAMESPACE();

#endif  // SUMAC_VECTOR_TARGET
#endif  // per-target include guard
