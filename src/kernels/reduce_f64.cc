// SPDX-License-Identifier: BSD-3-Clause
// The kernels of doubles, for every vector set.
#include "kernels/highway_config.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/reduce_f64.cc"
#include "hwy/foreach_target.h"  // includes this file once per set

#include "kernels/reduce-inl.h"

#if SUMAC_VECTOR_TARGET
HWY_BEFORE_NAMESPACE();
namespace sumac {
namespace HWY_NAMESPACE {

ReduceFn find_f64(Op op, DType type) { return select_in<KernelFile::f64, Kernel>(op, type); }

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace sumac
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
namespace sumac {

ReduceFn find_f64(VectorSet set, Op op, DType type) {
  static constexpr FindFn kFind[] = SUMAC_VECTOR_SETS(find_f64);
  return kFind[set] != nullptr ? kFind[set](op, type) : nullptr;
}

}  // namespace sumac
#endif
