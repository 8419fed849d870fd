// SPDX-License-Identifier: BSD-3-Clause
// Counts of calls by collective and path: which algorithm served them, or why the MPI did.
#pragma once

#include <cstdint>

#include "base/algorithm.h"
#include "base/check_use.h"
#include "base/memory_use.h"
#include "base/message_use.h"
#include "base/obstacle.h"
#include "base/thread_use.h"

namespace sumac {

enum class Reason : std::uint8_t {
#define SUMAC_REASON(name, text) name,
#include "observe/reasons.def"
#undef SUMAC_REASON
  count
};
inline constexpr int kNumReasons = static_cast<int>(Reason::count);

// The reason as text, such as "mpi: user-defined operation".
const char* text_of(Reason reason);

// The path of a call that needs no communication.
inline constexpr const char* kLocal = "local";

struct PathCount {
  std::uint64_t calls = 0;
  std::uint64_t bytes = 0;

  void add(std::uint64_t n) {
    ++calls;
    bytes += n;
  }
};

// Counts of one communicator, or of the process. Not synchronised: a communicator's counts are
// written by the one thread that may call on it, the process's under a lock when a communicator
// ends.
struct Stats {
  PathCount taken[kNumAlgorithms];
  PathCount local[kNumCollectives];  // served without communication
  PathCount handed[kNumCollectives][kNumReasons];
  std::uint64_t threads[kNumThreadUses] = {};    // large reductions, of the process
  std::uint64_t checks[kNumCheckUses] = {};      // of results, of the process
  std::uint64_t messages[kNumMessageUses] = {};  // that Sumac has packed, of the process
  std::uint64_t memory[kNumMemoryUses] = {};     // of the process
  std::uint64_t refusals[kNumRefusals] = {};     // promotions that were refused
  std::uint64_t obstacles[kNumObstacles] = {};   // communicators, of the process

  void merge(const Stats& other);
};

// Adds to the counts of the process: calls without a communicator, those that any thread may find
// to have ended, and those of communicators that have ended.
void add_to_process_stats(const Stats& stats);
void count_process_hand_down(Collective collective, Reason reason, std::uint64_t bytes,
                             std::uint64_t calls = 1);
void count_process_local(Collective collective, std::uint64_t bytes);
void count_process_taken(Algorithm algorithm, std::uint64_t bytes);
void count_thread_use(ThreadUse use);
void count_check_use(CheckUse use);
void count_obstacle(Obstacle obstacle);
void count_message_use(MessageUse use);
// Says whether the program has promised that no two of its threads call MPI at the same time.
void set_one_call_at_a_time(bool is_so);
Stats process_stats();

}  // namespace sumac
