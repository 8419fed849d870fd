// SPDX-License-Identifier: BSD-3-Clause
// A fold combines any number of sources from left to right, in rank order, by a kernel or the
// program's function.
#pragma once

#include <algorithm>
#include <cstddef>

#include "algorithms/arguments.h"
#include "base/cpu.h"
#include "kernels/reduce.h"

namespace sumac {

// Computes output[i] = (source(0)[i] op source(1)[i]) op ... for i < count. output may be exactly
// one of the sources. `source(r)` returns the address of rank r's elements.
template <class SourceOf>
void fold(ReduceFn kernel, std::byte* output, int ranks, std::size_t count, std::size_t element,
          SourceOf source) {
  const void* sources[kMaxSources];
  if (ranks <= kMaxSources) {
    for (int r = 0; r < ranks; ++r) sources[r] = source(r);
    kernel(output, sources, ranks, count);
    return;
  }
  // There are more sources than a kernel takes, so the fold makes several passes, block by block
  // through a buffer, since output may be a later source.
  alignas(kCacheLine) std::byte partial[2048];
  const std::size_t block = sizeof partial / element;
  for (std::size_t first = 0; first < count; first += block) {
    const std::size_t n = std::min(block, count - first);
    for (int r = 0; r < ranks;) {
      int taken = 0;
      if (r > 0) sources[taken++] = partial;
      while (taken < kMaxSources && r < ranks) sources[taken++] = source(r++) + first * element;
      kernel(r < ranks ? partial : output + first * element, sources, taken, n);
    }
  }
}

// Does the same for elements of `args`, by its kernel or the program's function.
template <class SourceOf>
void fold(const ReduceArguments& args, std::byte* output, int ranks, std::size_t count,
          SourceOf source) {
  if (!args.user) [[likely]] {
    return fold(args.kernel, output, ranks, count, args.element, source);
  }
  args.user->fold(
      output, ranks, count,
      [](const void* context, int rank) { return (*static_cast<const SourceOf*>(context))(rank); },
      &source);
}

}  // namespace sumac
