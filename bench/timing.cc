// SPDX-License-Identifier: BSD-3-Clause
#include "timing.h"

#include <algorithm>
#include <array>

namespace sumac::bench {

std::int64_t timer_overhead_ns() {
  std::array<std::int64_t, 2001> differences;
  for (std::int64_t& difference : differences) {
    const std::int64_t start = now_ns();
    difference = now_ns() - start;
  }
  std::nth_element(differences.begin(), differences.begin() + differences.size() / 2,
                   differences.end());
  return differences[differences.size() / 2];
}

}  // namespace sumac::bench
