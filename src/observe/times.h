// SPDX-License-Identifier: BSD-3-Clause
// How long calls took, by collective and path. Counted only where somebody asked for it: else calls
// do not come here at all (interpose/backend/timed.h).
#pragma once

#include "observe/stats.h"

namespace sumac {

// Paths are numbered: the algorithms, without communication, and the reasons for handing down.
inline constexpr int kLocalPath = kNumAlgorithms, kFirstReasonPath = kNumAlgorithms + 1;
inline constexpr int kNumPaths = kFirstReasonPath + kNumReasons;

struct Times {
  std::uint64_t ns[kNumCollectives][kNumPaths] = {};
};

std::uint64_t clock_ns();

// A counter that goes on evenly, read in less time than a clock where the system itself goes by it.
// Calibrated by the clock, from start_timing() on.
void start_timing();
std::uint64_t ticks();

// From any thread. True the first time.
bool add_time(Collective collective, int path, std::uint64_t ticks);
Times process_times();

}  // namespace sumac
