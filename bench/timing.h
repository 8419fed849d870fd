// SPDX-License-Identifier: BSD-3-Clause
// The clock of the benchmark.
#pragma once

#include <time.h>

#include <cstdint>

namespace sumac::bench {

// Nanoseconds of CLOCK_MONOTONIC: the same clock for all processes of a host.
inline std::int64_t now_ns() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return std::int64_t{time.tv_sec} * 1000000000 + time.tv_nsec;
}

// What an empty interval measures: the median difference of two readings in a row. It is taken off
// every sample, so that a call of 100 ns is not reported as one of 125.
std::int64_t timer_overhead_ns();

}  // namespace sumac::bench
