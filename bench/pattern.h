// SPDX-License-Identifier: BSD-3-Clause
// Known data, and the expected results. A pattern repeats after kPeriod elements, a prime number:
// misplaced parts are detected, and the expected result of a long message is cheap to compute.
#pragma once

#include <cstddef>

#include "base/types.h"

namespace sumac::bench {

inline constexpr std::size_t kPeriod = 4093;

// The data of one rank. All reductions over the ranks are exact in every type: sums and products
// are so small that neither rounding nor the order of ranks changes them.
struct Pattern {
  DType type;
  Op op;
  int ranks;
  unsigned seed;

  void fill(void* buffer, std::size_t count, int rank) const;
  // The number of elements that differ from those of `rank`.
  std::size_t differing(const void* buffer, std::size_t count, int rank) const;
  // The number of elements, from element `first` on, that differ from the reduction over all ranks.
  std::size_t wrong(const void* buffer, std::size_t count, std::size_t first = 0) const;
};

// Fills in floating-point or complex data of one rank whose sums depend on the order of additions.
void fill_rounding(DType type, void* buffer, std::size_t count, int rank);

// Fills in data that reductions with vectors of the same values do not change: ones for a product,
// else zeros. They give no subnormal numbers, infinities or NaNs, which some processors compute
// more slowly.
void fill_lasting(DType type, Op op, void* buffer, std::size_t count);

}  // namespace sumac::bench
