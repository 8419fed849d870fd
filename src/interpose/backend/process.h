// SPDX-License-Identifier: BSD-3-Clause
// What is one a process: options, life cycle, re-entrancy, and the memory communicators share.
#pragma once

#include <mpi.h>

#include <atomic>

#include "base/types.h"
#include "config/options.h"
#include "observe/stats.h"
#include "planner/plan.h"
#include "planner/rules.h"
#include "progress/helper.h"
#include "transport/shm/arena.h"

namespace sumac {

// The MPI this back end is for.
#if defined(MPICH_NAME) || defined(MPICH_VERSION)
inline constexpr Family kFamily = Family::mpich;
#else
inline constexpr Family kFamily = Family::openmpi;
#endif

extern sumac_options options;
// SUMAC_STATS, taken apart.
sumac_report stats_wanted();

// Those of SUMAC_RULES; none where there is no such file or it is refused.
const RuleSet& user_rules();
// Reads them, once; warns of a file that is refused.
void read_user_rules();
Arena& arena();

// What is under way in this process, and who looks at it when the program does not.
Engine& engine();
Helper& helper();

// This process, among all that ever join a group with it. Never 0.
std::uint64_t process_word();

// True between MPI_Init and MPI_Finalize; and, where a program has sessions only, from its first
// collective call on. Learns the predefined handles the first time.
bool mpi_is_up();
// `log_as`: this process's rank for messages, or -1 for its rank in the world, where there is one.
void note_mpi_up(int log_as = -1);
void note_mpi_down();

// From MPI_Init on MPI_COMM_WORLD may be used; a program may have sessions alone.
bool world_exists();
// The same until the beginning of MPI_Finalize. Nothing may be under way at other times: the end of
// a session is not seen.
bool world_is_up();
void note_world_ends();

// Ends the job, after a line that says why. Launchers lose what they have not passed on when a rank
// aborts: they are given a moment.
void end_job(MPI_Comm comm);

// True when buffers may be in a GPU's memory: a run-time library for one was in the process when
// MPI started or a communicator was set up, and SUMAC_DEVICE does not promise otherwise.
bool device_memory_possible();
void look_for_devices();

// Polls before a rank yields that waits for it does not know whom: as on the communicator set up
// last.
std::uint32_t spins_of_process();
void set_spins_of_process(std::uint32_t spins);

// Per thread: whether it is in an intercepted call, which communicator (its handle's bits) it is
// freeing, and what became of the last collective.
struct ThreadState {
  bool inside = false;
  std::uintptr_t freeing = 0;
  const char* last_path = "";
};
ThreadState& thread_state();

// Whether a function of this library, other than those that lead here without a gap, is on the
// stack: the call is made by what a call of Sumac's calls. Walks the stack.
bool called_from_within();

// What becomes of one collective call: for the statistics, and for who asks which way it took.
class CallRecord {
 public:
  explicit CallRecord(Collective collective) : thread_(thread_state()), collective_(collective) {}
  CallRecord(const CallRecord&) = delete;
  CallRecord& operator=(const CallRecord&) = delete;

  Collective collective() const { return collective_; }

  // Where no communicator counts it.
  void hand_down(Reason reason) {
    thread_.last_path = text_of(reason);
    count_process_hand_down(collective_, reason, 0);
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
// by exception or longjmp, and a user-level thread may be put aside in mid-call. So where a call
// seems to be nested, the stack is asked, which takes microseconds.
class Entry : public CallRecord {
 public:
  explicit Entry(Collective collective)
      : CallRecord(collective), nested_(thread_.inside && called_from_within()) {
    thread_.inside = true;
  }
  ~Entry() { thread_.inside = nested_; }

  bool nested() const { return nested_; }

 private:
  bool nested_;
};

inline bool collective_is_on(Collective collective) {
  return options.colls >> static_cast<int>(collective) & 1;
}

}  // namespace sumac
