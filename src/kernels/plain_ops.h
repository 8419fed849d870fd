// SPDX-License-Identifier: BSD-3-Clause
// What each operation does to one element. Integers are unsigned, so that they wrap; only min and
// max are also asked of signed ones.
#pragma once

#include <cstddef>
#include <cstring>
#include <type_traits>

#include "kernels/ordered.h"

namespace sumac::plain {

// The reduction of one source.
inline void copy(void* dst, const void* src, std::size_t bytes) {
  if (dst != src) std::memcpy(dst, src, bytes);
}

struct Sum {
  template <class T>
  static T one(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(a + b);
    } else {
      return ordered::add(a, b);
    }
  }
};

struct Prod {
  template <class T>
  static T one(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(1U * a * b);  // 1U: 16-bit factors would be multiplied as signed int
    } else {
      return ordered::mul(a, b);
    }
  }
};

struct Min {
  template <class T>
  static T one(T a, T b) {
    return a < b ? a : b;
  }
};

struct Max {
  template <class T>
  static T one(T a, T b) {
    return a > b ? a : b;
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
