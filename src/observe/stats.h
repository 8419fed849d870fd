// SPDX-License-Identifier: BSD-3-Clause
// The statistics count calls by collective and path: which algorithm served them, or why the MPI
// did.
#pragma once

#include <cstdint>

#include "base/algorithm.h"
#include "base/use_counts.h"

namespace sumac {

enum class Reason : std::uint8_t {
#define SUMAC_REASON(name, text) name,
#include "observe/reasons.def"
#undef SUMAC_REASON
  count
};
inline constexpr int kNumReasons = static_cast<int>(Reason::count);

// Returns the reason as text, such as "mpi: user-defined operation".
const char* text_of(Reason reason);

// A call that needs no communication takes this path.
inline constexpr const char* kLocal = "local";

struct PathCount {
  std::uint64_t calls = 0;
  std::uint64_t bytes = 0;

  void add(std::uint64_t n) {
    ++calls;
    bytes += n;
  }
};

// These are the counts of one communicator, or of the process. They are not synchronised: the one
// thread that may call on a communicator writes its counts, and the process's counts are written
// under a lock when a communicator ends.
struct Stats {
  PathCount taken[kNumAlgorithms];
  PathCount local[kNumCollectives];  // served without communication
  PathCount handed[kNumCollectives][kNumReasons];
  // The counts from here on are kept for the process as a whole. This one counts large reductions.
  std::uint64_t threads[kNumThreadUses] = {};
  std::uint64_t checks[kNumCheckUses] = {};      // results that were compared
  std::uint64_t messages[kNumMessageUses] = {};  // messages that Sumac has packed
  std::uint64_t devices[kNumDeviceUses] = {};
  std::uint64_t memory[kNumMemoryUses] = {};
  std::uint64_t refusals[kNumRefusals] = {};    // promotions that were refused
  std::uint64_t obstacles[kNumObstacles] = {};  // communicators

  void merge(const Stats& other);
};

// Adds to the counts of the process. They cover calls without a communicator, calls whose end any
// thread may notice, and communicators that have ended.
void add_to_process_stats(const Stats& stats);
void count_process_hand_down(Collective collective, Reason reason, std::uint64_t bytes,
                             std::uint64_t calls = 1);
void count_process_local(Collective collective, std::uint64_t bytes);
void count_process_taken(Algorithm algorithm, std::uint64_t bytes);
void count_thread_use(ThreadUse use);
void count_check_use(CheckUse use);
void count_obstacle(Obstacle obstacle);
void count_message_use(MessageUse use);
void count_device_use(DeviceUse use, std::uint64_t by);
// Says whether the program has promised that no two of its threads call MPI at the same time.
void set_one_call_at_a_time(bool is_so);
Stats process_stats();

}  // namespace sumac
