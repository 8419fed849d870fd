// SPDX-License-Identifier: BSD-3-Clause
// These classes stand for one call of the program's on its thread's stack: they know whether Sumac
// is in another call already, and record how this one is served.
#pragma once

#include "base/types.h"
#include "interpose/process/process.h"
#include "observe/stats.h"

namespace sumac {

// Each thread knows whether it is in an intercepted call, whether the program has paused Sumac,
// which communicator (the bits of its handle) it is freeing, and which path its last collective
// went (observe/stats.h).
struct ThreadState {
  bool inside = false;
  int pauses = 0;  // how many sumac_pause() of this thread have not been resumed
  std::uintptr_t freeing = 0;
  int last_path = kNoPath;
};
ThreadState& thread_state();

// Returns true if another function of this library is on the stack, besides those that lead here
// without a gap: the call is then made by something that Sumac has called. Walks the stack.
bool called_from_within();

// Records how one collective call was served, for the statistics and for sumac_last_path().
class CallRecord {
 public:
  explicit CallRecord(Collective collective) : thread_(thread_state()), collective_(collective) {}
  CallRecord(const CallRecord&) = delete;
  CallRecord& operator=(const CallRecord&) = delete;

  Collective collective() const { return collective_; }

  // Notes the path without counting. Persistent operations need it, because their starts count.
  void note_path(int path) { thread_.last_path = path; }

  // Hands down a call that no communicator counts.
  void hand_down(Reason reason, std::uint64_t bytes) {
    thread_.last_path = path_of(reason);
    count_process_hand_down(collective_, reason, bytes);
  }
  void hand_down(CallCounts& stats, Reason reason, std::uint64_t bytes) {
    thread_.last_path = path_of(reason);
    stats.add_handed(collective_, reason, bytes);
  }
  void take(CallCounts& stats, Algorithm algorithm, std::uint64_t bytes) {
    thread_.last_path = path_of(algorithm);
    stats.add_taken(algorithm, bytes);
  }
  // Notes a call without communication: it has one rank, no data, or is MPI_Reduce_local.
  void take_locally(CallCounts& stats, std::uint64_t bytes) {
    thread_.last_path = kLocalPath;
    stats.add_local(collective_, bytes);
  }
  void take_locally(std::uint64_t bytes) {
    thread_.last_path = kLocalPath;
    count_process_local(collective_, bytes);
  }

 protected:
  ThreadState& thread_;

 private:
  Collective collective_;
};

// This is one intercepted call on this thread's stack. Its end may not be seen: an error handler
// may leave by exception or longjmp, and a user-level thread may be suspended in mid-call. So if a
// call seems to be nested, the stack is examined, which takes microseconds.
class Inside {
 public:
  [[gnu::always_inline]] Inside()
      : thread_(thread_state()), nested_(thread_.inside && called_from_within()) {
    thread_.inside = true;
  }
  ~Inside() { thread_.inside = nested_; }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

  bool nested() const { return nested_; }

 private:
  ThreadState& thread_;
  bool nested_;
};

// This is an intercepted call of a collective, with its record.
class Entry : public CallRecord {
 public:
  explicit Entry(Collective collective) : CallRecord(collective) {}

  bool nested() const { return inside_.nested(); }

 private:
  Inside inside_;
};

// The number of threads that the program has paused Sumac for.
extern std::atomic<int> paused_threads;

inline bool is_paused() {
  return paused_threads.load(std::memory_order_relaxed) != 0 && thread_state().pauses != 0;
}

inline bool collective_is_on(Collective collective) {
  return (options.colls >> static_cast<int>(collective) & 1) != 0 && !is_paused();
}

}  // namespace sumac
