// SPDX-License-Identifier: BSD-3-Clause
// These loops over buffers fold vectors of every kind: the parts that they share, which read the
// sources and compute one or four vectors of the result, and a loop for vectors whose length the
// compiler knows and one for the others.
#include "hwy/cache_control.h"
#include "hwy/highway.h"

#if defined(SUMAC_KERNELS_FOLD_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SUMAC_KERNELS_FOLD_INL_H_
#undef SUMAC_KERNELS_FOLD_INL_H_
#else
#define SUMAC_KERNELS_FOLD_INL_H_
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

#if !HWY_HAVE_SCALABLE
// This loop over buffers is for vectors whose length the compiler knows. No element is ever
// computed in two ways: ends are full or smaller vectors that overlap their neighbours, never a
// different loop. Since dst may be a source, whatever overlaps is computed before anything is
// stored.

// Folds the first element, which has one lane. It may be unaligned, hence the copies.
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

// These are the folds of the vectors at a buffer's two ends. They are computed before any store,
// since one may overlap the other or the data between them, and dst may be a source.
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

// Folds up to 2 * kLanes lanes by the largest vectors that fit.
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

// Returns the number of lanes from dst's start to its first vector boundary: at least one element,
// at most one vector, since a store that crosses cache lines costs as much as two. Returns one
// vector if dst is not aligned to its elements.
template <class Step, std::size_t kLanes, class T>
HWY_INLINE std::size_t to_boundary(const T* dst) {
  const std::size_t past = reinterpret_cast<std::uintptr_t>(dst) % (kLanes * sizeof(T));
  return past % (Step::kPerElement * sizeof(T)) != 0 ? kLanes : kLanes - past / sizeof(T);
}

// Pages are interleaved from this many bytes on, with two sources. Smaller data come from the
// second-level cache, which is fast without prefetching; more sources would be more streams than
// processors track.
inline constexpr std::size_t kLeastPaged = 2 << 20;

// Folds blocks of four pages of two sources, a few cache lines of each page in turn: processors
// prefetch within a page only, so four pages keep more of the memory busy than one.
template <class Step, FoldStores kStores, class T>
HWY_NOINLINE void fold_pages(T* dst, const T* first, const T* second, std::size_t count);

// Folds `count` lanes.
template <class Step, int N, FoldStores kStores>
HWY_NOINLINE void fold(void* to, const void* const* from, int num_srcs, std::size_t count) {
  using T = typename Step::Lane;
  const typename Step::Vector d;
  constexpr std::size_t kLanes = hn::MaxLanes(d);
  T* dst = static_cast<T*>(to);
  const Sources<T, N> srcs(from, num_srcs);
  if constexpr (kStores == FoldStores::cached) {  // kLeastStreamed is greater than these sizes
    if (count <= kLanes) return fold_few<Step, kLanes>(dst, srcs, count);
  }
  if constexpr (N == 2) {
    if (count * sizeof(T) >= kLeastPaged) {
      return fold_pages<Step, kStores>(dst, srcs[0], srcs[1], count);
    }
  }
  // Often there are no ends: dst begins at a vector boundary and ends with a group of four.
  const bool whole = reinterpret_cast<std::uintptr_t>(dst) % (kLanes * sizeof(T)) == 0 &&
                     count % (4 * kLanes) == 0;
  const std::size_t last = count - kLanes;
  Ends<hn::Vec<decltype(d)>> ends{hn::Zero(d), hn::Zero(d)};
  std::size_t i = 0;
  if (!whole) {
    ends = fold_ends<Step>(d, srcs, last);
    i = to_boundary<Step, kLanes>(dst);
  }
  for (; i + 4 * kLanes <= count; i += 4 * kLanes) fold_four<Step, kStores>(d, dst, srcs, i);
  if (!whole) {
    for (; i < last; i += kLanes) fold_vector<Step>(d, dst, srcs, i);
    store_ends(d, ends, dst, last);
  }
  if constexpr (kStores == FoldStores::streaming) hwy::FlushStream();
}

template <class Step, FoldStores kStores, class T>
HWY_NOINLINE void fold_pages(T* dst, const T* first, const T* second, std::size_t count) {
  const typename Step::Vector d;
  const Sources<T, 2> srcs(first, second);
  constexpr std::size_t kPages = 4, kPage = 4096 / sizeof(T);
  constexpr std::size_t kLanes = hn::MaxLanes(d);
  constexpr std::size_t kAtATime = 128 / sizeof(T) / kLanes * kLanes;
  const auto head = Step::of(d, hn::LoadU(d, first), hn::LoadU(d, second));
  std::size_t i = to_boundary<Step, kLanes>(dst);
  for (; i + kPages * kPage <= count; i += kPages * kPage) {
    for (std::size_t at = i; at < i + kPage; at += kAtATime) {
      for (std::size_t page = at; page < at + kPages * kPage; page += kPage) {
        for (std::size_t k = 0; k < kAtATime; k += kLanes) {
          fold_vector<Step, kStores>(d, dst, srcs, page + k);
        }
      }
    }
  }
  hn::StoreU(head, d, dst);
  if constexpr (kStores == FoldStores::streaming) hwy::FlushStream();
  const void* const rest[] = {first + i, second + i};
  constexpr int kSources = 2;
  fold<Step, kSources, FoldStores::cached>(dst + i, rest, kSources, count - i);
}

#else  // HWY_HAVE_SCALABLE
// This loop over buffers is for vectors whose length only the processor knows (SVE). It takes whole
// vectors, then the remainder under predicates, which neither read nor write beyond the buffers.

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

#endif  // HWY_HAVE_SCALABLE

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace sumac
HWY_AFTER_NAMESPACE();

#endif  // SUMAC_VECTOR_TARGET
#endif  // per-target include guard
