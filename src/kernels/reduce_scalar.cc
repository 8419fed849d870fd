// SPDX-License-Identifier: BSD-3-Clause
// These kernels take one element at a time: the build keeps the compiler from vectorising this
// file.
#include "kernels/plain_kernel.h"

namespace sumac {

struct ScalarSet {
  template <class Op, class T>
  static void fold(char* dst, const char* left, const char* right, std::size_t count) {
    fold_each<ScalarSet, Op, T>(dst, left, right, count);
  }
};

ReduceFn find_scalar(Op op, DType type) { return find_plain<ScalarSet>(op, type); }

}  // namespace sumac
