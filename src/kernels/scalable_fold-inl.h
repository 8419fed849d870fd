// SPDX-License-Identifier: BSD-3-Clause
// This loop over buffers is for vectors whose length only the processor knows (SVE). It takes whole
// vectors, then the remainder under predicates, which neither read nor write beyond the buffers.
#include "hwy/highway.h"
#include "kernels/fold_steps-inl.h"

#if defined(SUMAC_KERNELS_SCALABLE_FOLD_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SUMAC_KERNELS_SCALABLE_FOLD_INL_H_
#undef SUMAC_KERNELS_SCALABLE_FOLD_INL_H_
#else
#define SUMAC_KERNELS_SCALABLE_FOLD_INL_H_
#endif

#if SUMAC_VECTOR_TARGET && HWY_HAVE_SCALABLE

HWY_BEFORE_NAMESPACE();
namespace sumac {
namespace HWY_NAMESPACE {

template <class Step, class D, class T, int N>
HWY_INLINE void fold_first(D d, T* dst, const Sources<T, N>& srcs, std::size_t i,
                           std::size_t count) {
  const auto mask = hn::FirstN(d, count);
  auto acc = hn::MaskedLoad(mask, d, srcs[0] + i);
  for (int k = 1; k < srcs.size(); ++k) {
    acc = Step::of(d, acc, hn::MaskedLoad(mask, d, srcs[k] + i));
  }
  hn::BlendedStore(acc, mask, d, dst + i);
}

// Folds `count` lanes. A vector is stored before the next is loaded, and none overlap, so dst may
// be a source.
template <class Step, int N, FoldStores kStores>
HWY_NOINLINE void fold(void* to, const void* const* from, int num_srcs, std::size_t count) {
  using T = typename Step::Lane;
  const typename Step::Vector d;
  const std::size_t lanes = hn::Lanes(d);
  T* dst = static_cast<T*>(to);
  const Sources<T, N> srcs(from, num_srcs);
  std::size_t i = 0;
  for (; i + 4 * lanes <= count; i += 4 * lanes) fold_four<Step, kStores>(d, dst, srcs, i);
  // Folds at most one vector at a time: FirstN uses the lower 32 bits of a number only, and its
  // predicates are not restricted to the power of two that is Highway's vector.
  for (; i < count; i += lanes) fold_first<Step>(d, dst, srcs, i, HWY_MIN(lanes, count - i));
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace sumac
HWY_AFTER_NAMESPACE();

#endif  // SUMAC_VECTOR_TARGET && HWY_HAVE_SCALABLE
#endif  // per-target include guard
