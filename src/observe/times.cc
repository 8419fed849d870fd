// SPDX-License-Identifier: BSD-3-Clause
#include "observe/times.h"

#include <time.h>

#include <atomic>

namespace sumac {
namespace {

std::atomic<std::uint64_t> times[kNumCollectives][kNumPaths];

}  // namespace

std::uint64_t clock_ns() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(now.tv_nsec);
}

bool add_time(Collective collective, int path, std::uint64_t ns) {
  std::atomic<std::uint64_t>& sum = times[static_cast<int>(collective)][path];
  return sum.fetch_add(ns ? ns : 1, std::memory_order_relaxed) == 0;
}

Times process_times() {
  Times sum;
  for (int c = 0; c < kNumCollectives; ++c) {
    for (int p = 0; p < kNumPaths; ++p) sum.ns[c][p] = times[c][p].load(std::memory_order_relaxed);
  }
  return sum;
}

}  // namespace sumac
