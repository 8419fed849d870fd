// SPDX-License-Identifier: BSD-3-Clause
// These functions time how long a cache line takes there and back between two threads that share
// memory, of the same or of two processes.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/cpu.h"

namespace sumac {

// One side writes this line and the other polls it.
struct alignas(kFalseSharingRange) LineCell {
  std::atomic<std::uint64_t> value;
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

inline std::uint64_t now_ns() { return clock_ns(); }

// This struct says how the trips are timed.
struct LineTiming {
  std::uint64_t deadline_ns;        // in clock_ns(): no side waits longer than this
  std::uint64_t (*now)() = now_ns;  // times the batches; tests give another
};

// This struct says how many trips there are. The fastest batch counts, because an interrupt
// lengthens only few batches.
inline constexpr int kLineBatches = 5, kLineTrips = 8;
struct LineTrips {
  int batches = kLineBatches, of_batch = kLineTrips;
  int all() const { return batches * of_batch; }
};

// Polls until the cell holds `value`, without a pause, which would be part of the time: the other
// side comes soon or not at all. Returns false if it did not come by the deadline.
bool wait_for_line(const LineCell& cell, std::uint64_t value, std::uint64_t deadline_ns);

// Each of the two sides calls one of the following functions. The trips are numbered from `first`
// on; the cells may hold anything but these numbers at the start.

// Sends the line there, and waits until it is back. Returns the nanoseconds of one trip, or a
// negative number if the other side did not come by the deadline.
double send_line(LineCell& there, const LineCell& back, std::uint64_t first,
                 const LineTiming& timing, const LineTrips& trips = {});
// Waits for the line, and sends it back. Returns false if it did not come by the deadline.
bool return_line(const LineCell& there, LineCell& back, std::uint64_t first,
                 std::uint64_t deadline_ns, const LineTrips& trips = {});

}  // namespace sumac
