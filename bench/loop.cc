// SPDX-License-Identifier: BSD-3-Clause
// The element types as a program has them, and each operation as it would write it.
#include "loop.h"

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace sumac::bench {
namespace {

template <typename T>
inline constexpr bool kIsInteger = std::is_integral_v<T> || std::is_same_v<T, __int128>;

using Int128 = __int128;
using LongDouble = long double;
using Float128 = __float128;

template <typename T>
struct Complex {
  T re, im;
};

// Has the layout of MPI's pair types, with the same gaps.
template <typename V, typename I>
struct PairOf {
  V value;
  I index;
};

// Converts to unsigned: integers of MPI wrap around, but overflow of signed integers is undefined
// in C++.
template <typename T>
[[gnu::always_inline]] inline auto plain(T x) {
  if constexpr (std::is_same_v<T, __int128>) {
    return static_cast<unsigned __int128>(x);
  } else if constexpr (kIsInteger<T>) {
    return static_cast<std::uint64_t>(x);
  } else {
    return x;
  }
}

// The result of the op, which is_defined() for the type. Any other op returns the first element.
template <typename T>
[[gnu::always_inline]] inline T combined(Op op, T a, T b) {
  if constexpr (kIsInteger<T>) {
    switch (op) {
      case Op::land:
        return static_cast<T>(a && b);
      case Op::lor:
        return static_cast<T>(a || b);
      case Op::lxor:
        return static_cast<T>(!a != !b);
      case Op::band:
        return static_cast<T>(a & b);
      case Op::bor:
        return static_cast<T>(a | b);
      case Op::bxor:
        return static_cast<T>(a ^ b);
      case Op::sum:
      case Op::prod:
      case Op::min:
      case Op::max:
      case Op::minloc:
      case Op::maxloc:
      case Op::none:
        break;
    }
  }
  switch (op) {
    case Op::sum:
      return static_cast<T>(plain(a) + plain(b));
    case Op::prod:
      return static_cast<T>(plain(a) * plain(b));
    case Op::min:
      return a < b ? a : b;
    case Op::max:
      return a > b ? a : b;
    case Op::land:
    case Op::lor:
    case Op::lxor:
    case Op::band:
    case Op::bor:
    case Op::bxor:
    case Op::minloc:
    case Op::maxloc:
    case Op::none:
      break;
  }
  return a;
}

template <typename T>
[[gnu::always_inline]] inline Complex<T> combined(Op op, Complex<T> a, Complex<T> b) {
  if (op == Op::sum) return {a.re + b.re, a.im + b.im};
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

template <typename V, typename I>
[[gnu::always_inline]] inline PairOf<V, I> combined(Op op, PairOf<V, I> a, PairOf<V, I> b) {
  const bool first = op == Op::minloc ? a.value < b.value : a.value > b.value;
  if (a.value == b.value) return {a.value, std::min(a.index, b.index)};
  return first ? a : b;
}

template <typename T, Op op>
void plain_loop(const void* in, void* inout, std::size_t count) {
  const T* const a = static_cast<const T*>(in);
  T* const b = static_cast<T*>(inout);
  for (std::size_t i = 0; i < count; i++) b[i] = combined(op, a[i], b[i]);
}

template <typename T, std::size_t... ops>
Loop pick(Op op, std::index_sequence<ops...>) {
  constexpr Loop kLoops[] = {&plain_loop<T, Op(ops)>...};
  return kLoops[static_cast<int>(op)];
}

}  // namespace

Loop loop(DType type, Op op) {
  using Float16 = void;
  using BFloat16 = void;
  const auto picked = [op]<typename T>(std::type_identity<T>) -> Loop {
    if constexpr (std::is_void_v<T>)
      return nullptr;
    else
      return pick<T>(op, std::make_index_sequence<kNumOps>());
  };
  switch (type) {
#define SUMAC_ELEMENT(dtype, name, bytes, kind, kernels, mpi, ...) \
  case DType::dtype:                                               \
    return picked(std::type_identity<__VA_ARGS__>());
#include "base/types.def"
    case DType::none:
      break;
  }
  return nullptr;
}

}  // namespace sumac::bench
