// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/reduce.h"

#include <algorithm>

#include "kernels/highway_config.h"
#include "kernels/sets.h"
#include "kernels/simd.h"
// After Highway's settings: which sets it will compile.
#include "hwy/detect_targets.h"

namespace sumac {
namespace {

template <VectorSet set>
ReduceFn find_vector(Op op, DType type) {
  switch (type) {
    case DType::i8:
    case DType::u8:
      return find_int8(set, op, type);
    case DType::i16:
    case DType::u16:
      return find_int16(set, op, type);
    case DType::i32:
    case DType::u32:
      return find_int32(set, op, type);
    case DType::i64:
    case DType::u64:
      return find_int64(set, op, type);
    case DType::f16:
    case DType::bf16:
      return find_half(set, op, type);
    case DType::f32:
      return find_f32(set, op, type);
    case DType::f64:
      return find_f64(set, op, type);
    case DType::c32:
    case DType::c64:
      return find_complex(set, op, type);
    case DType::i32_i32:
    case DType::f32_i32:
    case DType::f32_f32:
    case DType::i16_i32:
      return find_pair32(set, op, type);
    case DType::i64_i64:
    case DType::f64_f64:
    case DType::i64_i32:
    case DType::f64_i32:
      return find_pair64(set, op, type);
    case DType::i128:
    case DType::long_double:
    case DType::f128:
    case DType::c_long_double:
    case DType::c128:
    case DType::long_double_i32:
    case DType::none:
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
  return info_of(type).vector ? kFind[sumac_simd_set()](op, type) : find_wide(op, type);
}

void set_stream_bytes(std::size_t bytes) {
  stream_bytes.store(std::max(bytes, kLeastStreamed), std::memory_order_relaxed);
}

}  // namespace sumac
