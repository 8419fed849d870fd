// SPDX-License-Identifier: BSD-3-Clause
// Which instance of a kernel template serves an operation. The template takes an operation of
// plain_ops.h and an element type, and has a static member `reduce`, a ReduceFn.
#pragma once

#include <type_traits>

#include "kernels/plain_ops.h"
#include "kernels/reduce.h"

namespace sumac {

// Min and max look at the sign; all other operations have the same bits for both types.
template <template <class, class> class Kernel, class Integer>
ReduceFn select_integer(Op op) {
  using Bits = std::make_unsigned_t<Integer>;
  switch (op) {
    case Op::sum:
      return Kernel<plain::Sum, Bits>::reduce;
    case Op::prod:
      return Kernel<plain::Prod, Bits>::reduce;
    case Op::min:
      return Kernel<plain::Min, Integer>::reduce;
    case Op::max:
      return Kernel<plain::Max, Integer>::reduce;
    case Op::land:
      return Kernel<plain::Land, Bits>::reduce;
    case Op::lor:
      return Kernel<plain::Lor, Bits>::reduce;
    case Op::lxor:
      return Kernel<plain::Lxor, Bits>::reduce;
    case Op::band:
      return Kernel<plain::Band, Bits>::reduce;
    case Op::bor:
      return Kernel<plain::Bor, Bits>::reduce;
    case Op::bxor:
      return Kernel<plain::Bxor, Bits>::reduce;
    default:
      return nullptr;
  }
}

template <template <class, class> class Kernel, class Float>
ReduceFn select_float(Op op) {
  switch (op) {
    case Op::sum:
      return Kernel<plain::Sum, Float>::reduce;
    case Op::prod:
      return Kernel<plain::Prod, Float>::reduce;
    case Op::min:
      return Kernel<plain::Min, Float>::reduce;
    case Op::max:
      return Kernel<plain::Max, Float>::reduce;
    default:
      return nullptr;
  }
}

}  // namespace sumac
