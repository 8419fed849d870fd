// SPDX-License-Identifier: BSD-3-Clause
// Selects the instance of a kernel template that serves an operation. The template takes an
// operation of plain_ops.h and an element, and has a static member `reduce`, a ReduceFn.
#pragma once

#include <type_traits>

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
ReduceFn select_float(Op op) {
  if (op == Op::sum) return Kernel<plain::Sum, Float>::reduce;
  if (op == Op::prod) return Kernel<plain::Prod, Float>::reduce;
  if (op == Op::min) return Kernel<plain::Min, Float>::reduce;
  if (op == Op::max) return Kernel<plain::Max, Float>::reduce;
  return nullptr;
}

template <template <class, class> class Kernel, class Float>
ReduceFn select_complex(Op op) {
  if (op == Op::sum) return Kernel<plain::Sum, Complex<Float>>::reduce;
  if (op == Op::prod) return Kernel<plain::Prod, Complex<Float>>::reduce;
  return nullptr;
}

template <template <class, class> class Kernel, class P>
ReduceFn select_location(Op op) {
  if (op == Op::minloc) return Kernel<plain::MinLoc, P>::reduce;
  if (op == Op::maxloc) return Kernel<plain::MaxLoc, P>::reduce;
  return nullptr;
}

template <template <class, class> class Kernel>
ReduceFn select_pair32(Op op, DType type) {
  if (type == DType::i32_i32)
    return select_location<Kernel, PairOf<std::int32_t, std::int32_t>>(op);
  if (type == DType::f32_i32) return select_location<Kernel, PairOf<float, std::int32_t>>(op);
  if (type == DType::f32_f32) return select_location<Kernel, PairOf<float, float>>(op);
  if (type == DType::i16_i32)
    return select_location<Kernel, PairOf<std::int16_t, std::int32_t>>(op);
  return nullptr;
}

template <template <class, class> class Kernel>
ReduceFn select_pair64(Op op, DType type) {
  if (type == DType::i64_i64)
    return select_location<Kernel, PairOf<std::int64_t, std::int64_t>>(op);
  if (type == DType::f64_f64) return select_location<Kernel, PairOf<double, double>>(op);
  if (type == DType::i64_i32)
    return select_location<Kernel, PairOf<std::int64_t, std::int32_t>>(op);
  if (type == DType::f64_i32) return select_location<Kernel, PairOf<double, std::int32_t>>(op);
  return nullptr;
}

}  // namespace sumac
