// SPDX-License-Identifier: BSD-3-Clause
// The statistics count calls, and add up their time, by collective and path: which algorithm served
// them, or why the MPI did.
#pragma once

#include <cstdint>

#include "base/algorithm.h"
#include "base/cpu.h"
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

// The paths of calls are numbered: first come the algorithms, then calls without communication,
// then the reasons for handing down. Calls of collectives that are only counted have one path.
inline constexpr int kLocalPath = kNumAlgorithms, kFirstReasonPath = kNumAlgorithms + 1;
inline constexpr int kNumPaths = kFirstReasonPath + kNumReasons;
inline constexpr int kCountedPath = kNumPaths, kNoPath = kNumPaths + 1;

constexpr int path_of(Algorithm algorithm) { return static_cast<int>(algorithm); }
constexpr int path_of(Reason reason) { return kFirstReasonPath + static_cast<int>(reason); }

// Returns an algorithm's name, "local", "mpi: " and a reason, or "" for kNoPath.
const char* name_of_path(int path);

struct PathCount {
  std::uint64_t calls = 0;
  std::uint64_t bytes = 0;

  void add(std::uint64_t n) {
    ++calls;
    bytes += n;
  }
};

// These are the counts of the calls on one communicator, or of the process. They are not
// synchronised: the one thread that may call on a communicator writes its counts, and the process's
// counts are written under a lock when a communicator ends.
struct CallCounts {
  PathCount taken[kNumAlgorithms];
  PathCount local[kNumCollectives];  // served without communication
  PathCount handed[kNumCollectives][kNumReasons];
  // A bit for each collective that has counts in `local` or `handed`, and one for `taken`: programs
  // make and free many communicators with few calls, and what they have not counted is not touched.
  std::uint32_t used = 0;

  void add_taken(Algorithm algorithm, std::uint64_t bytes) {
    used |= kTaken;
    taken[static_cast<int>(algorithm)].add(bytes);
  }
  void add_local(Collective collective, std::uint64_t bytes) {
    used |= bit_of(collective);
    local[static_cast<int>(collective)].add(bytes);
  }
  void add_handed(Collective collective, Reason reason, std::uint64_t bytes) {
    used |= bit_of(collective);
    handed[static_cast<int>(collective)][static_cast<int>(reason)].add(bytes);
  }
  void merge(const CallCounts& other);
  void clear();

  static constexpr std::uint32_t kTaken = std::uint32_t{1} << 31, kAll = ~std::uint32_t{0};
  static constexpr std::uint32_t bit_of(Collective collective) {
    static_assert(kNumCollectives < 31);
    return std::uint32_t{1} << static_cast<int>(collective);
  }
};

// These are counts of the process as a whole.
struct Stats : CallCounts {
  std::uint64_t threads[kNumThreadUses] = {};    // large reductions
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
void add_to_process_stats(const CallCounts& counts);
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

// The MPI alone serves these collectives. Sumac counts their calls, so that its statistics cover
// all collectives of the program.
#define SUMAC_CALL(name)
enum class Counted : std::uint8_t {
#define SUMAC_COUNTED_FUNCTION(function, arguments, size) function,
#include "interpose/calls.def"
};

inline constexpr const char* kCountedNames[] = {
#define SUMAC_COUNTED_FUNCTION(function, arguments, size) #function,
#include "interpose/calls.def"
};
#undef SUMAC_CALL
inline constexpr int kNumCounted = sizeof kCountedNames / sizeof *kCountedNames;

constexpr const char* name_of(Counted counted) { return kCountedNames[static_cast<int>(counted)]; }

// The struct is plain bytes, so that ranks can send it to one another.
struct CountedCalls {
  PathCount calls[kNumCounted];
  std::uint64_t ns[kNumCounted] = {};  // 0 if calls are not timed

  void merge(const CountedCalls& other);
};

// These functions count for the whole process. They are thread-safe.
void count_call(Counted counted, std::uint64_t bytes);
void add_time(Counted counted, std::uint64_t ns);
CountedCalls process_counted();

// The time that calls take is added up by collective and path. It is measured only on request;
// otherwise calls do not reach this code (interpose/process/timed.h).
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
