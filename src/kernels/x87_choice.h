// SPDX-License-Identifier: BSD-3-Clause
// These operations choose one of two elements by x87 numbers: min, max, minloc and maxloc of long
// double. An x87 load or store takes as long as ten of integers, and gcc compares twice to tell
// greater from equal. So numbers are compared once, the chosen one is moved as integers, and an
// element of the result that does not change is not written.
#pragma once

#include <type_traits>

#include "kernels/plain_kernel.h"

namespace sumac {

using LongPair = PairOf<LongDouble, int>;

#if defined(__x86_64__)
template <class Op, class T>
inline constexpr bool kChoosesX87 = std::is_same_v<T, LongPair> ||
                                    (std::is_same_v<T, LongDouble> &&
                                     (std::is_same_v<Op, plain::Min> ||
                                      std::is_same_v<Op, plain::Max>));
#else
template <class Op, class T>
inline constexpr bool kChoosesX87 = false;
#endif

// Moves value and index, but not the gaps between them.
template <class T>
void move_fields(char* to, const char* from) {
  __builtin_memcpy(to, from, 8);
  __builtin_memcpy(to + 8, from + 8, 2);
  if constexpr (std::is_same_v<T, LongPair>) __builtin_memcpy(to + 16, from + 16, 4);
}

template <class T>
void move_gaps(char* to, const char* from) {
  Memory<LongDouble>::copy_gaps(to, from);
  if constexpr (std::is_same_v<T, LongPair>) __builtin_memcpy(to + 20, from + 20, 12);
}

#if defined(__x86_64__)
enum class X87Order { greater, equal, neither };

// Tells whether a > b, a == b, or neither, as for NaN.
[[gnu::always_inline]] inline X87Order compare(const char* a, const char* b) {
  using Number = Memory<LongDouble>::Unaligned;
  asm goto(
      "fldt %1\n\tfldt %0\n\tfucomip %%st(1), %%st\n\tfstp %%st(0)\n\t"
      "ja %l[greater]\n\tjp %l[neither]\n\tje %l[equal]"
      :
      : "m"(*reinterpret_cast<const Number*>(a)), "m"(*reinterpret_cast<const Number*>(b))
      : "cc", "st", "st(1)"
      : greater, equal, neither);
neither:
  return X87Order::neither;
greater:
  return X87Order::greater;
equal:
  return X87Order::equal;
}

// Returns true if the operation's result is the left element.
template <class Op, class T>
[[gnu::always_inline]] inline bool takes_left(const char* left, const char* right) {
  constexpr bool kGreater = std::is_same_v<Op, plain::Max> || std::is_same_v<Op, plain::MaxLoc>;
  bool lower_index = false;
  if constexpr (std::is_same_v<T, LongPair>) {
    int indices[2];
    __builtin_memcpy(&indices[0], left + 16, sizeof(int));
    __builtin_memcpy(&indices[1], right + 16, sizeof(int));
    lower_index = indices[0] < indices[1];
  }
  // Equal bits need no comparison: whether they are a number or not, the right one stays.
  const bool same =
      __builtin_memcmp(left, right, 8) == 0 && __builtin_memcmp(left + 8, right + 8, 2) == 0;
  if (same && !lower_index) return false;
  const X87Order compared = kGreater ? compare(left, right) : compare(right, left);
  return compared == X87Order::greater || (compared == X87Order::equal && lower_index);
}

template <class Op, class T>
void fold_choices(char* dst, const char* left, const char* right, std::size_t count) {
  const std::size_t bytes = count * sizeof(T);
  if (dst == right) {
    for (std::size_t at = 0; at < bytes; at += sizeof(T)) {
      if (takes_left<Op, T>(left + at, dst + at)) move_fields<T>(dst + at, left + at);
    }
    return;
  }
  for (std::size_t at = 0; at < bytes; at += sizeof(T)) {
    const bool takes = takes_left<Op, T>(left + at, right + at);
    move_fields<T>(dst + at, (takes ? left : right) + at);
    move_gaps<T>(dst + at, right + at);
  }
}
#endif

}  // namespace sumac
