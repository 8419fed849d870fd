// SPDX-License-Identifier: BSD-3-Clause
// Known data, and what must come out of it. A pattern repeats after kPeriod elements, a prime, so
// that a misplaced piece shows and yet the expected result of a long message is cheap to have.
#pragma once

#include <cstddef>

#include "base/types.h"

namespace sumac::bench {

inline constexpr std::size_t kPeriod = 4093;

// The data of one rank. All reductions over the ranks are exact in every type: sums and products
// stay small, so neither rounding nor the order of the ranks can change them.
struct Pattern {
  DType type;
  Op op;
  int ranks;
  unsigned seed;

  void fill(void* buffer, std::size_t count, int rank) const;
  // How many elements are not those of `rank`.
  std::size_t differing(const void* buffer, std::size_t count, int rank) const;
  // How many elements are not the reduction over all ranks, from the element `first` on.
  std::size_t wrong(const void* buffer, std::size_t count, std::size_t first = 0) const;
};

// Floating-point or complex data of one rank whose sums depend on the order of the additions.
void fill_rounding(DType type, void* buffer, std::size_t count, int rank);

// Data that a reduction of any number of such vectors leaves as it is: ones for a product, else
// zeros. No denormal number, infinity or NaN comes of it, whose arithmetic may take longer.
void fill_lasting(DType type, Op op, void* buffer, std::size_t count);

}  // namespace sumac::bench
