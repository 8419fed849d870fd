// SPDX-License-Identifier: BSD-3-Clause
// The vector kernels: one text, compiled once per instruction set by Highway's foreach_target.h.
// No element is read or written outside the buffers, and none is ever computed in two ways: ends
// are full or smaller vectors that overlap their neighbours, never a different loop. As dst may be
// a source, whatever overlaps is computed before anything is stored.
#include "hwy/cache_control.h"
#include "hwy/highway.h"
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

// The source pointers. For a number known to the compiler they are copied, or every store to dst
// might change them in its eyes; N = 0 is any number, known at run time.
template <class T, int N>
struct Sources {
  Sources(const void* const* srcs, int /*num_srcs*/) {
    for (int k = 0; k < N; ++k) ptr[k] = static_cast<const T*>(srcs[k]);
  }
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

// One step of a reduction of elements E, on the lanes that make them up.
template <class Op, class E>
struct Step {
  using Lane = LaneOf<E>;
  static constexpr std::size_t kPerElement = Lanes<E>::kPerElement;
  // Vectors that the set converts to float in one instruction are half as long.
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

// The first element alone, of one lane. It may be unaligned, hence the copies.
template <class Step, class T, int N>
HWY_INLINE void fold_one(T* dst, const Sources<T, N>& srcs) {
  T acc;
  __builtin_memcpy(&acc, srcs[0], sizeof(T));
  for (int k = 1; k < srcs.size(); ++k) {
    T next;
    __builtin_memcpy(&next, srcs[k], sizeof(T));
    acc = Step::of_one(acc, next);
  }
  __builtin_memcpy(dst, &acc, sizeof(T));
}

template <class Step, class D, class T, int N>
HWY_INLINE void fold_vector(D d, T* dst, const Sources<T, N>& srcs, std::size_t i) {
  auto acc = hn::LoadU(d, srcs[0] + i);
  for (int k = 1; k < srcs.size(); ++k) acc = Step::of(d, acc, hn::LoadU(d, srcs[k] + i));
  hn::StoreU(acc, d, dst + i);
}

// The folds of the vectors at a buffer's two ends, not yet stored: one may overlap the other or
// what lies between them, and dst may be a source.
template <class V>
struct Ends {
  V first;
  V last;
};

template <class Step, class D, class T, int N>
HWY_INLINE Ends<hn::Vec<D>> fold_ends(D d, const Sources<T, N>& srcs, std::size_t last) {
  auto acc0 = hn::LoadU(d, srcs[0]);
  auto acc1 = hn::LoadU(d, srcs[0] + last);
  for (int k = 1; k < srcs.size(); ++k) {
    acc0 = Step::of(d, acc0, hn::LoadU(d, srcs[k]));
    acc1 = Step::of(d, acc1, hn::LoadU(d, srcs[k] + last));
  }
  return {acc0, acc1};
}

template <class D, class T, class V>
HWY_INLINE void store_ends(D d, const Ends<V>& ends, T* dst, std::size_t last) {
  hn::StoreU(ends.first, d, dst);
  hn::StoreU(ends.last, d, dst + last);
}

// How results are stored: into the caches, or past them to aligned addresses.
enum class Stores { cached, streaming };

template <Stores kStores, class D, class T>
HWY_INLINE void store(hn::Vec<D> v, D d, T* to) {
  if constexpr (kStores == Stores::streaming) {
    hn::Stream(v, d, to);
  } else {
    hn::StoreU(v, d, to);
  }
}

// Four vectors at once hide the latency of a fold's dependent steps.
template <class Step, Stores kStores, class D, class T, int N>
HWY_INLINE void fold_four(D d, T* dst, const Sources<T, N>& srcs, std::size_t i) {
  constexpr std::size_t kLanes = hn::MaxLanes(d);
  const T* p = srcs[0] + i;
  auto acc0 = hn::LoadU(d, p);
  auto acc1 = hn::LoadU(d, p + kLanes);
  auto acc2 = hn::LoadU(d, p + 2 * kLanes);
  auto acc3 = hn::LoadU(d, p + 3 * kLanes);
  for (int k = 1; k < srcs.size(); ++k) {
    p = srcs[k] + i;
    acc0 = Step::of(d, acc0, hn::LoadU(d, p));
    acc1 = Step::of(d, acc1, hn::LoadU(d, p + kLanes));
    acc2 = Step::of(d, acc2, hn::LoadU(d, p + 2 * kLanes));
    acc3 = Step::of(d, acc3, hn::LoadU(d, p + 3 * kLanes));
  }
  store<kStores>(acc0, d, dst + i);
  store<kStores>(acc1, d, dst + i + kLanes);
  store<kStores>(acc2, d, dst + i + 2 * kLanes);
  store<kStores>(acc3, d, dst + i + 3 * kLanes);
}

// Up to 2 * kLanes lanes, by the largest vectors that fit.
template <class Step, std::size_t kLanes, class T, int N>
HWY_INLINE void fold_few(T* dst, const Sources<T, N>& srcs, std::size_t count) {
  if constexpr (kLanes < Step::kPerElement) {
    // No element is left.
  } else if constexpr (kLanes == 1) {
    if (count == 1) fold_one<Step>(dst, srcs);
  } else {
    const hn::FixedTag<T, kLanes> d;
    if (count > kLanes) {
      store_ends(d, fold_ends<Step>(d, srcs, count - kLanes), dst, count - kLanes);
    } else if (count == kLanes) {
      fold_vector<Step>(d, dst, srcs, 0);
    } else {
      fold_few<Step, kLanes / 2>(dst, srcs, count);
    }
  }
}

// How many lanes stand before dst's first vector boundary after its start: at least an element, at
// most a vector. A store that crosses cache lines costs two. A vector's if dst is not aligned to
// its elements.
template <class Step, std::size_t kLanes, class T>
HWY_INLINE std::size_t to_boundary(const T* dst) {
  const std::size_t past = reinterpret_cast<std::uintptr_t>(dst) % (kLanes * sizeof(T));
  return past % (Step::kPerElement * sizeof(T)) != 0 ? kLanes : kLanes - past / sizeof(T);
}

// `count` lanes.
template <class Step, int N, Stores kStores>
HWY_NOINLINE void fold(void* to, const void* const* from, int num_srcs, std::size_t count) {
  using T = typename Step::Lane;
  const typename Step::Vector d;
  constexpr std::size_t kLanes = hn::MaxLanes(d);
  T* dst = static_cast<T*>(to);
  const Sources<T, N> srcs(from, num_srcs);
  if (count <= kLanes) return fold_few<Step, kLanes>(dst, srcs, count);
  const std::size_t last = count - kLanes;
  const auto ends = fold_ends<Step>(d, srcs, last);
  std::size_t i = to_boundary<Step, kLanes>(dst);
  for (; i + 4 * kLanes <= count; i += 4 * kLanes) fold_four<Step, kStores>(d, dst, srcs, i);
  for (; i < last; i += kLanes) fold_vector<Step>(d, dst, srcs, i);
  if constexpr (kStores == Stores::streaming) hwy::FlushStream();
  store_ends(d, ends, dst, last);
}

// Streaming pays where dst leaves the caches anyway and is not read first; it needs aligned
// vectors.
template <class Step>
HWY_INLINE bool may_stream(const void* dst, const void* const* srcs, int num_srcs,
                           std::size_t bytes) {
  if (bytes < stream_bytes()) return false;
  for (int k = 0; k < num_srcs; ++k) {
    if (srcs[k] == dst) return false;
  }
  return reinterpret_cast<std::uintptr_t>(dst) %
             (Step::kPerElement * sizeof(typename Step::Lane)) ==
         0;
}

// Pairs worth a loop for each usual number of sources; the others have one for 2 and one for all.
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
      if (num_srcs == 2) return fold<S, 2, Stores::streaming>(dst, srcs, num_srcs, count);
      return fold<S, 0, Stores::streaming>(dst, srcs, num_srcs, count);
    }
    if (num_srcs == 2) return fold<S, 2, Stores::cached>(dst, srcs, num_srcs, count);
    if constexpr (is_common<Op, E>()) {
      if (num_srcs == 3) return fold<S, 3, Stores::cached>(dst, srcs, num_srcs, count);
      if (num_srcs == 4) return fold<S, 4, Stores::cached>(dst, srcs, num_srcs, count);
      if (num_srcs == 8) return fold<S, 8, Stores::cached>(dst, srcs, num_srcs, count);
    }
    fold<S, 0, Stores::cached>(dst, srcs, num_srcs, count);
  }
};

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace sumac
HWY_AFTER_NAMESPACE();

#endif  // SUMAC_VECTOR_TARGET
#endif  // per-target include guard

// The functions `find` of all sets, in the order of VectorSet.
#undef SUMAC_VECTOR_SETS
#define SUMAC_VECTOR_SETS(find)                                                                  \
  {                                                                                              \
    HWY_CHOOSE_AVX3(find), HWY_CHOOSE_AVX2(find), HWY_CHOOSE_SSE4(find), HWY_CHOOSE_SSSE3(find), \
        HWY_CHOOSE_NEON(find)                                                                    \
  }
