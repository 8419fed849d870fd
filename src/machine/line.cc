// SPDX-License-Identifier: BSD-3-Clause
#include "machine/line.h"

#include <sched.h>

#include <algorithm>

namespace sumac {

bool wait_for_line(const LineCell& cell, std::uint64_t value, std::uint64_t deadline_ns) {
  constexpr int kPollsPerClock = 1024;
  for (int polls = 1; cell.value.load(std::memory_order_acquire) != value; ++polls) {
    if (polls % kPollsPerClock != 0) continue;
    if (clock_ns() > deadline_ns) return false;
    sched_yield();
  }
  return true;
}

double send_line(LineCell& there, const LineCell& back, std::uint64_t first,
                 const LineTiming& timing, const LineTrips& trips) {
  std::uint64_t least = UINT64_MAX;
  for (int batch = 0; batch < trips.batches; ++batch) {
    const std::uint64_t begun = timing.now();
    for (int trip = 0; trip < trips.of_batch; ++trip, ++first) {
      there.value.store(first, std::memory_order_release);
      if (!wait_for_line(back, first, timing.deadline_ns)) return -1;
    }
    least = std::min(least, timing.now() - begun);
  }
  return static_cast<double>(least) / trips.of_batch;
}

bool return_line(const LineCell& there, LineCell& back, std::uint64_t first,
                 std::uint64_t deadline_ns, const LineTrips& trips) {
  for (int trip = 0; trip < trips.all(); ++trip, ++first) {
    if (!wait_for_line(there, first, deadline_ns)) return false;
    back.value.store(first, std::memory_order_release);
  }
  return true;
}

}  // namespace sumac
