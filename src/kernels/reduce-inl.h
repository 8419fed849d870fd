// SPDX-License-Identifier: BSD-3-Clause
// The vector kernels are one text, which Highway's foreach_target.h compiles once per instruction
// set. No element is read or written outside the buffers.
#include "hwy/highway.h"
#include "kernels/fold-inl.h"
#include "kernels/highway_config.h"
#include "kernels/select.h"
#include "kernels/sets.h"
#include "kernels/vector_ops-inl.h"

#if defined(SUMAC_KERNELS_REDUCE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SUMAC_KERNELS_REDUCE_INL_H_
#undef SUMAC_KERNELS_REDUCE_INL_H_
#else
#define SUMAC_KERNELS_REDUCE_INL_H_
#endif

#if SUMAC_VECTOR_TARGET

HWY_BEFORE_NAMESPACE();
namespace sumac {
namespace HWY_NAMESPACE {

// This is one step of a reduction of elements E, on the lanes that make them up.
template <class Op, class E>
struct Step {
  using Lane = LaneOf<E>;
  static constexpr std::size_t kPerElement = Lanes<E>::kPerElement;
  // True if the set converts to float in one instruction, from vectors of half the length.
  static constexpr bool kConverts =
      HWY_ARCH_X86 && kConvertsHalves && std::is_same_v<E, Float16> &&
      (std::is_same_v<Op, plain::Sum> || std::is_same_v<Op, plain::Prod>);
  using Vector = hn::ScalableTag<Lane, kConverts ? -1 : 0>;

  template <class D>
  static HWY_INLINE hn::Vec<D> of(D d, hn::Vec<D> a, hn::Vec<D> b) {
    return apply(Op(), Tag<E>(), d, a, b);
  }
  static HWY_INLINE Lane of_one(Lane a, Lane b) { return apply_to_one(Op(), Tag<E>(), a, b); }
};

// Streaming pays where dst leaves the caches anyway and is not read first. It needs aligned
// vectors.
template <class Step>
HWY_INLINE bool may_stream(const void* dst, const void* const* srcs, int num_srcs,
                           std::size_t bytes) {
  if (bytes < stream_bytes.load(std::memory_order_relaxed)) [[likely]]
    return false;
  for (int k = 0; k < num_srcs; ++k) {
    if (srcs[k] == dst) return false;
  }
  return reinterpret_cast<std::uintptr_t>(dst) %
             (Step::kPerElement * sizeof(typename Step::Lane)) ==
         0;
}

// Returns true for pairs that are worth a loop for each usual number of sources; the others have
// one loop for 2 sources and one for any number.
template <class Op, class E>
constexpr bool is_common() {
  return std::is_arithmetic_v<E> && sizeof(E) >= 4 &&
         (std::is_same_v<Op, plain::Sum> || std::is_same_v<Op, plain::Min> ||
          std::is_same_v<Op, plain::Max>);
}

template <class Op, class E>
struct Kernel {
  using S = Step<Op, E>;
  static void reduce(void* dst, const void* const* srcs, int num_srcs, std::size_t count) {
    const std::size_t bytes = count * sizeof(E);
    if (num_srcs == 1) return plain::copy(dst, srcs[0], bytes);
    count *= S::kPerElement;
    if (may_stream<S>(dst, srcs, num_srcs, bytes)) {
      if (num_srcs == 2) return fold<S, 2, FoldStores::streaming>(dst, srcs, num_srcs, count);
      return fold<S, 0, FoldStores::streaming>(dst, srcs, num_srcs, count);
    }
    if (num_srcs == 2) return fold<S, 2, FoldStores::cached>(dst, srcs, num_srcs, count);
    if constexpr (is_common<Op, E>()) {
      if (num_srcs == 3) return fold<S, 3, FoldStores::cached>(dst, srcs, num_srcs, count);
      if (num_srcs == 4) return fold<S, 4, FoldStores::cached>(dst, srcs, num_srcs, count);
      if (num_srcs == 8) return fold<S, 8, FoldStores::cached>(dst, srcs, num_srcs, count);
    }
    fold<S, 0, FoldStores::cached>(dst, srcs, num_srcs, count);
  }
};

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace sumac
HWY_AFTER_NAMESPACE();

#endif  // SUMAC_VECTOR_TARGET
#endif  // per-target include guard
