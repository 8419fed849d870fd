// SPDX-License-Identifier: BSD-3-Clause
// The kernels of 16-bit floats, for every vector set.
#include "kernels/highway_config.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/reduce_half.cc"
#include "hwy/foreach_target.h"  // includes this file once per set

#include "kernels/reduce-inl.h"

#if SUMAC_VECTOR_TARGET
HWY_BEFORE_NAMESPACE();
namespace sumac {
namespace HWY_NAMESPACE {

ReduceFn find_half(Op op, DType type) { return select_in<KernelFile::half, Kernel>(op, type); }

#if HWY_TARGET == HWY_AVX3 && defined(SUMAC_HAS_AVX512_FP16)
ReduceFn find_native_half(Op op) { return select_floating<Kernel, NativeFloat16>(op); }
#endif

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace sumac
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
namespace sumac {

ReduceFn find_half(VectorSet set, Op op, DType type) {
  static constexpr FindFn kFind[] = SUMAC_VECTOR_SETS(find_half);
  return kFind[set] != nullptr ? kFind[set](op, type) : nullptr;
}

#if (HWY_TARGETS & HWY_AVX3) && defined(SUMAC_HAS_AVX512_FP16)
ReduceFn find_native_half(Op op) { return N_AVX3::find_native_half(op); }
#endif

}  // namespace sumac
#endif
