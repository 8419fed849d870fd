// SPDX-License-Identifier: BSD-3-Clause
// What exists once in a process: options, life cycle, re-entrancy, and the memory that
// communicators share.
#pragma once

#include <mpi.h>

#include <atomic>

#include "base/types.h"
#include "config/options.h"
#include "observe/stats.h"
#include "progress/helper.h"
#include "rules/choice_table.h"
#include "rules/rules.h"
#include "strands/waiting.h"
#include "transport/shm/arena.h"

namespace sumac {

// The MPI family whose behaviour the MPI has. Known from the header, but for the standard's binary
// interface, whose MPI is asked what it is.
#if defined(SUMAC_MPI_ABI)
Family family();
#elif defined(MPICH_NAME) || defined(MPICH_VERSION)
constexpr Family family() { return Family::mpich; }
#else
constexpr Family family() { return Family::openmpi; }
#endif

extern sumac_options options;
// The parsed value of SUMAC_STATS.
sumac_report stats_wanted();

// The rules of SUMAC_RULES; none where there is no such file or it is refused.
const RuleSet& user_rules();
// Reads them, once; warns of a file that is refused.
void read_user_rules();
Arena& arena();

// What is under way in this process, and which thread advances it when the program does not.
Engine& engine();
Helper& helper();

// Identifies this process among all that ever join a group with it. Never 0.
std::uint64_t process_word();

// True between MPI_Init and MPI_Finalize and, where a program has sessions only, from its first
// collective call on. Learns the predefined handles the first time.
extern std::atomic<bool> mpi_is_known_to_be_up;
bool learn_whether_mpi_is_up();
inline bool mpi_is_up() {
  return mpi_is_known_to_be_up.load(std::memory_order_acquire) || learn_whether_mpi_is_up();
}
// `log_as`: this process's rank for messages, or -1 for its rank in the world, where there is one.
void note_mpi_up(int log_as = -1);
void note_mpi_down();

// True from MPI_Init on, when MPI_COMM_WORLD may be used; a program may have sessions alone.
bool world_exists();
// True until the beginning of MPI_Finalize. At other times nothing may be under way: the end of a
// session is not seen.
bool world_is_up();
void note_world_ends();

// Ends the job, after a line that says why. Waits a moment first, since launchers lose output that
// they have not passed on when a rank aborts.
void end_job(MPI_Comm comm);

// True when buffers may be in a GPU's memory: a GPU run-time library was in the process when MPI
// started or a communicator was set up, and SUMAC_DEVICE does not promise otherwise.
extern std::atomic<bool> device_runtime_is_there;
inline bool device_memory_possible() {
  return device_runtime_is_there.load(std::memory_order_relaxed);
}
void look_for_devices();

// How this process waits where a wait belongs to no single communicator: as on the one set up last.
// Without drive() and late().
WaitPolicy wait_policy_of_process();
void set_wait_policy_of_process(const WaitPolicy& policy);

// Per thread: whether it is in an intercepted call, whether the program has paused Sumac, which
// communicator (the bits of its handle) it is freeing, and how the last collective was served.
struct ThreadState {
  bool inside = false;
  int pauses = 0;  // how many sumac_pause() of this thread have not been resumed
  std::uintptr_t freeing = 0;
  const char* last_path = "";
};
ThreadState& thread_state();

// True when another function of this library is on the stack, besides those that lead here without
// a gap: the call is made by something that Sumac has called. Walks the stack.
bool called_from_within();

// Records how one collective call was served, for the statistics and for sumac_last_path().
class CallRecord {
 public:
  explicit CallRecord(Collective collective) : thread_(thread_state()), collective_(collective) {}
  CallRecord(const CallRecord&) = delete;
  CallRecord& operator=(const CallRecord&) = delete;

  Collective collective() const { return collective_; }

  // Notes the path without counting: for persistent operations, whose starts count.
  void note_path(const char* path) { thread_.last_path = path; }

  // For calls that no communicator counts.
  void hand_down(Reason reason, std::uint64_t bytes) {
    thread_.last_path = text_of(reason);
    count_process_hand_down(collective_, reason, bytes);
  }
  void hand_down(Stats& stats, Reason reason, std::uint64_t bytes) {
    thread_.last_path = text_of(reason);
    stats.handed[static_cast<int>(collective_)][static_cast<int>(reason)].add(bytes);
  }
  void take(Stats& stats, Algorithm algorithm, std::uint64_t bytes) {
    thread_.last_path = info_of(algorithm).name;
    stats.taken[static_cast<int>(algorithm)].add(bytes);
  }
  // No communication: one rank, no data, or MPI_Reduce_local.
  void take_locally(Stats& stats, std::uint64_t bytes) {
    thread_.last_path = kLocal;
    stats.local[static_cast<int>(collective_)].add(bytes);
  }
  void take_locally(std::uint64_t bytes) {
    thread_.last_path = kLocal;
    count_process_local(collective_, bytes);
  }

 protected:
  ThreadState& thread_;

 private:
  Collective collective_;
};

// One intercepted call on this thread's stack. Its end may not be seen: an error handler may leave
// by exception or longjmp, and a user-level thread may be suspended in mid-call. So where a call
// seems to be nested the stack is examined, which takes microseconds.
class Inside {
 public:
  Inside() : thread_(thread_state()), nested_(thread_.inside && called_from_within()) {
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

// The same of a collective, with its record.
class Entry : public CallRecord {
 public:
  explicit Entry(Collective collective) : CallRecord(collective) {}

  bool nested() const { return inside_.nested(); }

 private:
  Inside inside_;
};

// Threads that the program has paused Sumac for.
extern std::atomic<int> paused_threads;

inline bool is_paused() {
  return paused_threads.load(std::memory_order_relaxed) != 0 && thread_state().pauses != 0;
}

inline bool collective_is_on(Collective collective) {
  return (options.colls >> static_cast<int>(collective) & 1) != 0 && !is_paused();
}

}  // namespace sumac
