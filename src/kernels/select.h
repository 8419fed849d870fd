// SPDX-License-Identifier: BSD-3-Clause
// Which instance of a kernel template serves an operation. The template takes an operation of
// plain_ops.h and an element, and has a static member `reduce`, a ReduceFn.
#pragma once

#include <type_traits>

#include "kernels/plain_ops.h"
#include "kernels/reduce.h"

namespace sumac {

// Min and max look at the sign; all other operations have the same bits for both types.
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

template <template <class, class> class Kernel, class Float>
ReduceFn select_complex(Op op) {
  switch (op) {
    case Op::sum:
      return Kernel<plain::Sum, Complex<Float>>::reduce;
    case Op::prod:
      return Kernel<plain::Prod, Complex<Float>>::reduce;
    default:
      return nullptr;
  }
}

template <template <class, class> class Kernel, class P>
ReduceFn select_location(Op op) {
  switch (op) {
    case Op::minloc:
      return Kernel<plain::MinLoc, P>::reduce;
    case Op::maxloc:
      return Kernel<plain::MaxLoc, P>::reduce;
    default:
      return nullptr;
  }
}

template <template <class, class> class Kernel>
ReduceFn select_pair32(Op op, DType type) {
  switch (type) {
    case DType::i32_i32:
      return select_location<Kernel, PairOf<std::int32_t, std::int32_t>>(op);
    case DType::f32_i32:
      return select_location<Kernel, PairOf<float, std::int32_t>>(op);
    case DType::f32_f32:
      return select_location<Kernel, PairOf<float, float>>(op);
    case DType::i16_i32:
      return select_location<Kernel, PairOf<std::int16_t, std::int32_t>>(op);
    default:
      return nullptr;
  }
}

template <template <class, class> class Kernel>
ReduceFn select_pair64(Op op, DType type) {
  switch (type) {
    case DType::i64_i64:
      return select_location<Kernel, PairOf<std::int64_t, std::int64_t>>(op);
    case DType::f64_f64:
      return select_location<Kernel, PairOf<double, double>>(op);
    case DType::i64_i32:
      return select_location<Kernel, PairOf<std::int64_t, std::int32_t>>(op);
    case DType::f64_i32:
      return select_location<Kernel, PairOf<double, std::int32_t>>(op);
    default:
      return nullptr;
  }
}

}  // namespace sumac
