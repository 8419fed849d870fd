// SPDX-License-Identifier: BSD-3-Clause
// Selects the instance of a kernel template that serves an operation. The template takes an
// operation of plain_ops.h and an element, and has a static member `reduce`, a ReduceFn.
#pragma once

#include <type_traits>

#include "kernels/elements.h"
#include "kernels/plain_ops.h"
#include "kernels/reduce.h"

namespace sumac {

// min and max depend on the sign; all other operations give the same bits for both types.
template <template <class, class> class Kernel, class Integer>
ReduceFn select_integer(Op op) {
  using Bits = typename UnsignedOf<Integer>::type;
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
    case Op::minloc:
    case Op::maxloc:
    case Op::none:
      break;
  }
  return nullptr;
}

template <template <class, class> class Kernel, class Float>
ReduceFn select_floating(Op op) {
  if (op == Op::sum) return Kernel<plain::Sum, Float>::reduce;
  if (op == Op::prod) return Kernel<plain::Prod, Float>::reduce;
  if (op == Op::min) return Kernel<plain::Min, Float>::reduce;
  if (op == Op::max) return Kernel<plain::Max, Float>::reduce;
  return nullptr;
}

template <template <class, class> class Kernel, class Number>
ReduceFn select_complex(Op op) {
  if (op == Op::sum) return Kernel<plain::Sum, Number>::reduce;
  if (op == Op::prod) return Kernel<plain::Prod, Number>::reduce;
  return nullptr;
}

template <template <class, class> class Kernel, class P>
ReduceFn select_pair(Op op) {
  if (op == Op::minloc) return Kernel<plain::MinLoc, P>::reduce;
  if (op == Op::maxloc) return Kernel<plain::MaxLoc, P>::reduce;
  return nullptr;
}

// Selects among the types of types.def whose kernels are in one file. Returns null for all others.
template <KernelFile file, template <class, class> class Kernel>
ReduceFn select_in(Op op, DType dtype) {
#define SUMAC_ELEMENT(type, name, bytes, kind, kernels, mpi, ...)            \
  if constexpr (KernelFile::kernels == file) {                               \
    if (dtype == DType::type) return select_##kind<Kernel, __VA_ARGS__>(op); \
  }
#include "base/types.def"
  return nullptr;
}

}  // namespace sumac
