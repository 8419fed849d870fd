// SPDX-License-Identifier: BSD-3-Clause
// Times a cache line there and back between two threads, of whatever processes, that share memory.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/align.h"
#include "base/clock.h"

namespace sumac {

// A line that one side writes and the other polls.
struct alignas(kFalseSharingRange) LineCell {
  std::atomic<std::uint64_t> value;
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

inline std::uint64_t now_ns() { return clock_ns(); }

// How the trips are timed.
struct LineTiming {
  std::uint64_t deadline_ns;        // of clock_ns(): later than this no side waits
  std::uint64_t (*now)() = now_ns;  // times the batches; tests give another
};

// How many trips there are. The least batch counts: an interrupt lengthens few of them.
inline constexpr int kLineBatches = 5, kLineTrips = 8;
struct LineTrips {
  int batches = kLineBatches, of_batch = kLineTrips;
  int all() const { return batches * of_batch; }
};

// Polls until the cell holds `value`, without a pause, which would be part of the time: the other
// side comes soon or not at all. Returns false when it did not come by the deadline.
bool wait_for_line(const LineCell& cell, std::uint64_t value, std::uint64_t deadline_ns);

// The trips between two sides, each of which calls one of the functions. The cells may hold
// anything but the numbers from `first` on, of which there are as many as trips.

// Sends the line there, and waits until it is back. Returns the nanoseconds of one trip, or a
// negative number when the other side did not come by the deadline.
double send_line(LineCell& there, const LineCell& back, std::uint64_t first,
                 const LineTiming& timing, const LineTrips& trips = {});
// Waits for the line, and sends it back. Returns false when it did not come by the deadline.
bool return_line(const LineCell& there, LineCell& back, std::uint64_t first,
                 std::uint64_t deadline_ns, const LineTrips& trips = {});

}  // namespace sumac
