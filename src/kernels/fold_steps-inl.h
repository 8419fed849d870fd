// SPDX-License-Identifier: BSD-3-Clause
// Loops over buffers share these parts for vectors of every kind: they read the sources, and
// compute one or four vectors of the result.
#include "hwy/highway.h"

#if defined(SUMAC_KERNELS_FOLD_STEPS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SUMAC_KERNELS_FOLD_STEPS_INL_H_
#undef SUMAC_KERNELS_FOLD_STEPS_INL_H_
#else
#define SUMAC_KERNELS_FOLD_STEPS_INL_H_
#endif

#if SUMAC_VECTOR_TARGET

HWY_BEFORE_NAMESPACE();
namespace sumac {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// The source pointers are copied if the compiler knows their number; otherwise it would have to
// assume that every store to dst may change them. N = 0 means any number, known at run time.
template <class T, int N>
struct Sources {
  Sources(const void* const* srcs, int /*num_srcs*/) {
    for (int k = 0; k < N; ++k) ptr[k] = static_cast<const T*>(srcs[k]);
  }
  Sources(const T* first, const T* second) : ptr{first, second} {}
  static constexpr int size() { return N; }
  const T* operator[](int k) const { return ptr[k]; }
  const T* ptr[N];
};

template <class T>
struct Sources<T, 0> {
  Sources(const void* const* srcs, int num_srcs) : ptr(srcs), num(num_srcs) {}
  int size() const { return num; }
  const T* operator[](int k) const { return static_cast<const T*>(ptr[k]); }
  const void* const* ptr;
  int num;
};

// Results are stored into the caches, or past them to aligned addresses.
enum class FoldStores { cached, streaming };

template <FoldStores kStores, class D, class T>
HWY_INLINE void store(hn::Vec<D> v, D d, T* to) {
  if constexpr (kStores == FoldStores::streaming) {
    hn::Stream(v, d, to);
  } else {
    hn::StoreU(v, d, to);
  }
}

template <class Step, FoldStores kStores = FoldStores::cached, class D, class T, int N>
HWY_INLINE void fold_vector(D d, T* dst, const Sources<T, N>& srcs, std::size_t i) {
  auto acc = hn::LoadU(d, srcs[0] + i);
  for (int k = 1; k < srcs.size(); ++k) acc = Step::of(d, acc, hn::LoadU(d, srcs[k] + i));
  store<kStores>(acc, d, dst + i);
}

// Four vectors at once hide the latency of a fold's dependent steps. Two sources need only one
// step, and their stores come between the loads, which takes an eighth less time in the first-level
// cache (1 KiB on Zen 3).
template <class Step, FoldStores kStores, class D, class T, int N>
HWY_INLINE void fold_four(D d, T* dst, const Sources<T, N>& srcs, std::size_t i) {
  const std::size_t lanes = hn::Lanes(d);
  if constexpr (N == 2) {
    for (int k = 0; k < 4; ++k, i += lanes) fold_vector<Step, kStores>(d, dst, srcs, i);
    return;
  }
  const T* p = srcs[0] + i;
  auto acc0 = hn::LoadU(d, p);
  auto acc1 = hn::LoadU(d, p + lanes);
  auto acc2 = hn::LoadU(d, p + 2 * lanes);
  auto acc3 = hn::LoadU(d, p + 3 * lanes);
  for (int k = 1; k < srcs.size(); ++k) {
    p = srcs[k] + i;
    acc0 = Step::of(d, acc0, hn::LoadU(d, p));
    acc1 = Step::of(d, acc1, hn::LoadU(d, p + lanes));
    acc2 = Step::of(d, acc2, hn::LoadU(d, p + 2 * lanes));
    acc3 = Step::of(d, acc3, hn::LoadU(d, p + 3 * lanes));
  }
  store<kStores>(acc0, d, dst + i);
  store<kStores>(acc1, d, dst + i + lanes);
  store<kStores>(acc2, d, dst + i + 2 * lanes);
  store<kStores>(acc3, d, dst + i + 3 * lanes);
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace sumac
HWY_AFTER_NAMESPACE();

#endif  // SUMAC_VECTOR_TARGET
#endif  // per-target include guard
