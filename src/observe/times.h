// SPDX-License-Identifier: BSD-3-Clause
// The time that calls take is added up by collective and path. It is measured only on request;
// otherwise calls do not reach this code (interpose/process/timed.h).
#pragma once

#include "base/clock.h"
#include "observe/stats.h"

namespace sumac {

// Paths are numbered: first come the algorithms, then calls without communication, then the reasons
// for handing down.
inline constexpr int kLocalPath = kNumAlgorithms, kFirstReasonPath = kNumAlgorithms + 1;
inline constexpr int kNumPaths = kFirstReasonPath + kNumReasons;

struct Times {
  std::uint64_t ns[kNumCollectives][kNumPaths] = {};
};

// Starts to calibrate a counter that advances evenly and is read faster than a clock, provided that
// the system's own clock is based on it.
void start_timing();
std::uint64_t ticks();

// Adds a call's ticks. Thread-safe. Returns true for the first call of this collective and path.
bool add_time(Collective collective, int path, std::uint64_t ticks);
Times process_times();

}  // namespace sumac
