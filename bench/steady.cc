// SPDX-License-Identifier: BSD-3-Clause
#include "steady.h"

#include <algorithm>

namespace sumac::bench {
namespace {

// Between one placement of two processors and another, a line's time differs by far more than
// this, and from one measurement to the next by less. As in python/sumac_mpi/bench/modes.py.
constexpr double kChange = 1.5;

}  // namespace

bool SteadyRounds::add(double after) {
  const auto [low, high] = std::minmax(before_, after);
  const bool steady = high <= kChange * low;
  if (steady)
    line_ns_.push_back((low + high) / 2);
  else
    dropped_++;
  before_ = after;
  return steady;
}

void SteadyRounds::keep_last() {
  line_ns_.push_back(0);
  dropped_--;
}

}  // namespace sumac::bench
