// SPDX-License-Identifier: BSD-3-Clause
// These kernels are for elements that no vector unit knows: numbers of more than 64 bits. They are
// the same for all sets.
#include "kernels/x87_choice.h"

namespace sumac {

struct WideSet {
  template <class Op, class T>
  static void fold(char* dst, const char* left, const char* right, std::size_t count) {
    if constexpr (kChoosesX87<Op, T>) {
      fold_choices<Op, T>(dst, left, right, count);
    } else {
      fold_each<WideSet, Op, T>(dst, left, right, count);
    }
  }
};

ReduceFn find_wide(Op op, DType type) {
  return select_in<KernelFile::wide, Plain<WideSet>::Kernel>(op, type);
}

}  // namespace sumac
