// SPDX-License-Identifier: BSD-3-Clause
// Kernels of elements that no vector unit knows: numbers of more than 64 bits. The same for all
// sets.
#include "kernels/plain_kernel.h"

namespace sumac {

struct WideSet {
  template <class Op, class T>
  static void fold(char* dst, const char* left, const char* right, std::size_t count) {
    fold_each<WideSet, Op, T>(dst, left, right, count);
  }
};

ReduceFn find_wide(Op op, DType type) {
  if (type == DType::i128) return select_integer<Plain<WideSet>::Kernel, Int128>(op);
  if (type == DType::long_double) return select_float<Plain<WideSet>::Kernel, long double>(op);
  if (type == DType::f128) return select_float<Plain<WideSet>::Kernel, Float128>(op);
  if (type == DType::c_long_double) return select_complex<Plain<WideSet>::Kernel, long double>(op);
  if (type == DType::c128) return select_complex<Plain<WideSet>::Kernel, Float128>(op);
  if (type == DType::long_double_i32)
    return select_location<Plain<WideSet>::Kernel, PairOf<long double, std::int32_t>>(op);
  return nullptr;
}

}  // namespace sumac
