// SPDX-License-Identifier: BSD-3-Clause
// The clock of the benchmark.
#pragma once

#include <time.h>

#include <algorithm>
#include <array>
#include <cstdint>

namespace sumac::bench {

// Nanoseconds of CLOCK_MONOTONIC, a clock that all processes of a host share.
inline std::int64_t now_ns() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return std::int64_t{time.tv_sec} * 1000000000 + time.tv_nsec;
}

// The measured length of an empty interval: the median difference of two successive clock readings.
// It is subtracted from every sample, so that a call of 100 ns is not reported as 125 ns.
inline std::int64_t timer_overhead_ns() {
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
