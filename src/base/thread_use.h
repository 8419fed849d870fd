// SPDX-License-Identifier: BSD-3-Clause
// The statistics say how many threads a large reduction used, or why only one. The kernels' callers
// count, the statistics print the counters.
#pragma once

#include <cstdint>

#include "base/use_text.h"

namespace sumac {

enum class ThreadUse : std::uint8_t {
  tasks,
  region,
  no_openmp,
  outside,
  one_thread,
  busy,
  elsewhere
};
inline constexpr int kNumThreadUses = 7;

inline constexpr UseText kThreadUseTexts[kNumThreadUses] = {
    {"tasks", "tasks for the threads of the parallel region it was called in"},
    {"region", "a parallel region of its own"},
    {"no_openmp", "one thread: no OpenMP run-time library in the process"},
    {"outside", "one thread: outside of a parallel region (SUMAC_OWN_REGIONS=1 opens one)"},
    {"one_thread", "one thread: no more by OMP_NUM_THREADS or processors"},
    {"busy", "one thread: others at work in such reductions"},
    {"elsewhere", "one thread: nonblocking, went on in whatever thread looked"},
};

}  // namespace sumac
