// SPDX-License-Identifier: BSD-3-Clause
// Each struct says what an operation does to one element. Integers are unsigned, so that they wrap;
// only min and max are also asked of signed ones.
#pragma once

#include <cstddef>
#include <cstring>

#include "kernels/elements.h"
#include "kernels/ordered.h"

namespace sumac::plain {

// The reduction of a single source is a copy.
inline void copy(void* dst, const void* src, std::size_t bytes) {
  if (dst != src) std::memcpy(dst, src, bytes);
}

template <class T>
T add(T a, T b) {
  if constexpr (is_integer<T>) {
    return static_cast<T>(a + b);
  } else if constexpr (is_half<T>) {
    return demote(ordered::add(promote(a), promote(b)), T());
  } else {
    return ordered::add(a, b);
  }
}

template <class T>
T multiply(T a, T b) {
  if constexpr (is_integer<T>) {
    return static_cast<T>(1U * a * b);  // 1U: 16-bit factors would be multiplied as signed int
  } else if constexpr (is_half<T>) {
    return demote(ordered::mul(promote(a), promote(b)), T());
  } else {
    return ordered::mul(a, b);
  }
}

template <class T>
Complex<T> add(Complex<T> a, Complex<T> b) {
  return {add(a.re, b.re), add(a.im, b.im)};
}

// This is the plain formula: infinities are not recovered from NaN as in C's Annex G. Factors and
// terms have the same order as in vector_complex-inl.h.
template <class T>
Complex<T> multiply(Complex<T> a, Complex<T> b) {
  return {add(multiply(a.re, b.re), -multiply(a.im, b.im)),
          add(multiply(a.im, b.re), multiply(a.re, b.im))};
}

template <class T>
bool less(T a, T b) {
  if constexpr (is_half<T>) {
    return is_less(a, b);
  } else {
    return a < b;
  }
}

struct Sum {
  template <class T>
  static T one(T a, T b) {
    return add(a, b);
  }
};

struct Prod {
  template <class T>
  static T one(T a, T b) {
    return multiply(a, b);
  }
};

struct Min {
  template <class T>
  static T one(T a, T b) {
    return less(a, b) ? a : b;
  }
};

struct Max {
  template <class T>
  static T one(T a, T b) {
    return less(b, a) ? a : b;
  }
};

// Takes the pair with the lower value, and of equal values the pair with the lower index.
struct MinLoc {
  template <class P>
  static P one(const P& a, P b) {
    if ((a.value() < b.value()) | ((a.value() == b.value()) & (a.index() < b.index()))) b.take(a);
    return b;
  }
};

struct MaxLoc {
  template <class P>
  static P one(const P& a, P b) {
    if ((a.value() > b.value()) | ((a.value() == b.value()) & (a.index() < b.index()))) b.take(a);
    return b;
  }
};

struct Land {
  template <class T>
  static T one(T a, T b) {
    return static_cast<T>((a != 0) & (b != 0));
  }
};

struct Lor {
  template <class T>
  static T one(T a, T b) {
    return static_cast<T>((a | b) != 0);
  }
};

struct Lxor {
  template <class T>
  static T one(T a, T b) {
    return static_cast<T>((a != 0) != (b != 0));
  }
};

struct Band {
  template <class T>
  static T one(T a, T b) {
    return static_cast<T>(a & b);
  }
};

struct Bor {
  template <class T>
  static T one(T a, T b) {
    return static_cast<T>(a | b);
  }
};

struct Bxor {
  template <class T>
  static T one(T a, T b) {
    return static_cast<T>(a ^ b);
  }
};

}  // namespace sumac::plain
