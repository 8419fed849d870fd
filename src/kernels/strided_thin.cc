// SPDX-License-Identifier: BSD-3-Clause
// These kernels take elements at a stride of two to four elements, for every vector set: they load
// whole vectors and shuffle those elements together. At longer strides loads of single elements are
// as fast.
#include "kernels/highway_config.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/strided_thin.cc"
#include "hwy/foreach_target.h"  // includes this file once per set

#include <cstdint>

#include "hwy/highway.h"
#include "kernels/sets.h"
#include "kernels/simd.h"
#include "kernels/strided_copy.h"

#if SUMAC_VECTOR_TARGET
HWY_BEFORE_NAMESPACE();
namespace sumac {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Loads the first of every `times` lanes.
template <int times, class D, class Lane>
HWY_INLINE hn::Vec<D> load_thinned(D d, const Lane* from) {
  hn::Vec<D> wanted, second, third, fourth;
  if constexpr (times == 2) hn::LoadInterleaved2(d, from, wanted, second);
  if constexpr (times == 3) hn::LoadInterleaved3(d, from, wanted, second, third);
  if constexpr (times == 4) hn::LoadInterleaved4(d, from, wanted, second, third, fourth);
  return wanted;
}

// With `streams` the results go past the caches, and `to` must be at a multiple of kStreamedAt.
template <class Lane, int times, bool streams>
std::size_t thin_out(std::byte* to, const std::byte* from, std::size_t count) {
  const hn::ScalableTag<Lane> d;
  const std::size_t lanes = hn::Lanes(d);
  auto* const out = reinterpret_cast<Lane*>(to);
  const auto* in = reinterpret_cast<const Lane*>(from);
  std::size_t done = 0;
  // The loop leaves out the last element, since the read of its vector would go beyond it.
  for (; done + lanes < count; done += lanes) {
    const auto wanted = load_thinned<times>(d, in + done * times);
    if constexpr (streams) {
      hn::Stream(wanted, d, out + done);
    } else {
      hn::StoreU(wanted, d, out + done);
    }
  }
  return done;
}

template <class Lane, bool streams>
ThinOutFn find_for(std::ptrdiff_t times) {
  if (times == 2) return thin_out<Lane, 2, streams>;
  if constexpr (sizeof(Lane) == 8) return nullptr;
  if (times == 3) return thin_out<Lane, 3, streams>;
  return times == 4 ? thin_out<Lane, 4, streams> : nullptr;
}

template <bool streams>
ThinOutFn find_thin(std::size_t block, std::ptrdiff_t times) {
  if (block == 8) return find_for<std::uint64_t, streams>(times);
  if (block == 4) return find_for<std::uint32_t, streams>(times);
  if (block == 2) return find_for<std::uint16_t, streams>(times);
  return block == 1 ? find_for<std::uint8_t, streams>(times) : nullptr;
}

ThinOutFn find_thinner(std::size_t block, std::ptrdiff_t times, bool streams) {
  return streams ? find_thin<true>(block, times) : find_thin<false>(block, times);
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace sumac
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
namespace sumac {
namespace {

using FindThinnerFn = ThinOutFn (*)(std::size_t block, std::ptrdiff_t times, bool streams);

constexpr FindThinnerFn kOfVectorSets[] = SUMAC_VECTOR_SETS(find_thinner);
template <VectorSet set>
constexpr FindThinnerFn find_vector = kOfVectorSets[set];
constexpr FindThinnerFn find_avx3_fp16 = find_vector<kAvx3>;
constexpr FindThinnerFn find_sse2 = nullptr, find_scalar = nullptr;

constexpr FindThinnerFn kFindThinner[] = {
#define SUMAC_SIMD_SET(name, bits, has, find) find,
#include "kernels/simd_sets.def"
#undef SUMAC_SIMD_SET
};

}  // namespace

ThinOutFn find_thin_out(std::size_t block, std::ptrdiff_t stride, bool streams) {
  const FindThinnerFn find = kFindThinner[sumac_simd_set()];
  const auto signed_block = static_cast<std::ptrdiff_t>(block);
  if (!find || stride % signed_block != 0) return nullptr;
  return find(block, stride / signed_block, streams);
}

}  // namespace sumac
#endif
