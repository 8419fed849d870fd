// SPDX-License-Identifier: BSD-3-Clause
// Vectors of complex numbers have real and imaginary parts side by side, so that the sum of the
// numbers is the sum of the lanes.
#include "hwy/highway.h"
#include "kernels/lanes.h"
#include "kernels/ordered-inl.h"
#include "kernels/plain_ops.h"

#if defined(SUMAC_KERNELS_VECTOR_COMPLEX_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SUMAC_KERNELS_VECTOR_COMPLEX_INL_H_
#undef SUMAC_KERNELS_VECTOR_COMPLEX_INL_H_
#else
#define SUMAC_KERNELS_VECTOR_COMPLEX_INL_H_
#endif

#if SUMAC_VECTOR_TARGET

HWY_BEFORE_NAMESPACE();
namespace sumac {
namespace HWY_NAMESPACE {

// Returns the sign bit in every real part, for a subtraction that treats NaNs as an addition does.
template <class D>
HWY_INLINE hn::Vec<D> sign_of_real(D d) {
  using Float = hn::TFromD<D>;
  if constexpr (sizeof(Float) == 4) {
    const hn::Repartition<std::uint64_t, D> pairs;
    return hn::BitCast(d, hn::Set(pairs, std::uint64_t{0x80000000U}));
  } else {
    return hn::OddEven(hn::Zero(d), hn::Set(d, -0.0));
  }
}

template <class D>
HWY_INLINE hn::Vec<D> exchange_parts(D /*d*/, hn::Vec<D> v) {
  if constexpr (sizeof(hn::TFromD<D>) == 4) {
    return hn::Shuffle2301(v);
  } else {
    return hn::OddEven(hn::DupEven(v), hn::DupOdd(v));
  }
}

template <class F, class D>
HWY_INLINE hn::Vec<D> apply(plain::Sum, Tag<Complex<F>>, D /*d*/, hn::Vec<D> a, hn::Vec<D> b) {
  return ordered_add(a, b);
}

// Computes (a.re * b.re - a.im * b.im, a.im * b.re + a.re * b.im), with the terms in this order.
template <class F, class D>
HWY_INLINE hn::Vec<D> apply(plain::Prod, Tag<Complex<F>>, D d, hn::Vec<D> a, hn::Vec<D> b) {
  const auto first = ordered_mul(a, hn::DupEven(b));
  const auto second = ordered_mul(exchange_parts(d, a), hn::DupOdd(b));
  return ordered_add(first, hn::Xor(second, sign_of_real(d)));
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace sumac
HWY_AFTER_NAMESPACE();

#endif  // SUMAC_VECTOR_TARGET
#endif  // per-target include guard
