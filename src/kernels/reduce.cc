// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/reduce.h"

#include <algorithm>

#include "kernels/highway_config.h"
#include "kernels/sets.h"
// This include comes after Highway's settings, and tells which sets Highway will compile.
#include "hwy/detect_targets.h"

namespace sumac {
namespace {

template <VectorSet set>
ReduceFn find_vector(Op op, DType type) {
  switch (info_of(type).kernels) {
#define SUMAC_KERNEL_FILE(file) \
  case KernelFile::file:        \
    return find_##file(set, op, type);
    SUMAC_KERNEL_FILES(SUMAC_KERNEL_FILE)
#undef SUMAC_KERNEL_FILE
    case KernelFile::wide:
      break;  // reduce_wide.cc has them
  }
  return nullptr;
}

#if (HWY_TARGETS & HWY_AVX3) && defined(SUMAC_HAS_AVX512_FP16)
ReduceFn find_avx3_fp16(Op op, DType type) {
  return type == DType::f16 ? find_native_half(op) : find_vector<kAvx3>(op, type);
}
#endif

constexpr FindFn kFind[] = {
#define SUMAC_SIMD_SET(name, bits, has, find) find,
#include "kernels/simd_sets.def"
#undef SUMAC_SIMD_SET
};

}  // namespace

ReduceFn find_reduce(Op op, DType type) {
  if (!is_defined(op, type)) return nullptr;
  return info_of(type).vector() ? kFind[set_for(op, type)](op, type) : find_wide(op, type);
}

void set_stream_bytes(std::size_t bytes) {
  stream_bytes.store(std::max(bytes, kLeastStreamed), std::memory_order_relaxed);
}

}  // namespace sumac
