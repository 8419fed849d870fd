// SPDX-License-Identifier: BSD-3-Clause
// The results of these kernels over words show how the words were folded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/algorithm.h"
#include "kernels/reduce.h"

namespace sumac::testing {

using Word = std::uint32_t;
using Words = std::vector<Word>;

// This kernel is commutative and associative: any order gives the serial result.
inline void sum_kernel(void* dst, const void* const* srcs, int num_srcs, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    Word value = 0;
    for (int s = 0; s < num_srcs; ++s) value += static_cast<const Word*>(srcs[s])[i];
    static_cast<Word*>(dst)[i] = value;
  }
}

// This kernel is neither commutative nor associative: the result shows the tree in which an element
// was folded.
inline void tree_kernel(void* dst, const void* const* srcs, int num_srcs, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    Word value = static_cast<const Word*>(srcs[0])[i];
    for (int s = 1; s < num_srcs; ++s) {
      value = value * 31 + (static_cast<const Word*>(srcs[s])[i] ^ 0x5bd1e995u) * 17 + 1;
    }
    static_cast<Word*>(dst)[i] = value;
  }
}

// This kernel is associative but not commutative: the result shows in which order ranks are folded,
// but not in which tree. Words are maps x -> ax + b modulo 2^16, one after the other.
inline void map_kernel(void* dst, const void* const* srcs, int num_srcs, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    Word value = static_cast<const Word*>(srcs[0])[i];
    for (int s = 1; s < num_srcs; ++s) {
      const Word next = static_cast<const Word*>(srcs[s])[i];
      const Word a = (value >> 16) * (next >> 16), b = (value >> 16) * (next & 0xffff) + value;
      value = a << 16 | (b & 0xffff);
    }
    static_cast<Word*>(dst)[i] = value;
  }
}

// Returns that one of these two kernels which shows as much as is promised: if partial results are
// folded, the algorithm may choose the tree.
inline ReduceFn kernel_showing(Order order) {
  return order == Order::rank ? tree_kernel : map_kernel;
}

// Each rank makes its own data: own_word() is what rank `r` puts into element `i` of call `n`. The
// next function folds these words of all ranks by `kernel`, from rank 0 on.
inline Word own_word(int r, std::size_t i, int n) {
  return static_cast<Word>(r + 1) * 2654435761u + static_cast<Word>(i) * 40503u +
         static_cast<Word>(n);
}
inline Word folded_words(ReduceFn kernel, int ranks, std::size_t i, int n) {
  Word value = own_word(0, i, n);
  for (int r = 1; r < ranks; ++r) {
    const Word next = own_word(r, i, n);
    const void* both[] = {&value, &next};
    kernel(&value, both, 2, 1);
  }
  return value;
}

}  // namespace sumac::testing
