// SPDX-License-Identifier: BSD-3-Clause
// What Sumac keeps of an MPI communicator, and how it is found from the handle.
#pragma once

#include <mpi.h>
#include <sys/types.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "engine/waiting.h"
#include "interpose/backend/messages.h"
#include "interpose/backend/mpi_fold.h"
#include "interpose/backend/process.h"
#include "planner/levels_run.h"
#include "planner/plan.h"
#include "progress/queue.h"
#include "transport/cma.h"
#include "transport/shm/group.h"

namespace sumac {

// Where one persistent operation is carried out, and no other. Ranks may start persistent
// operations in any order, and before or after others that are not persistent: operations that
// shared slots, lanes or tags, whose uses are numbered, would mix.
struct OwnRanks {
  Needs needs = Needs::lines;         // what the place is good for,
  const LevelsRun* like = nullptr;    // and the hierarchy of which `levels` is another one
  ShmGroup group;                     // one group in shared memory
  std::unique_ptr<LevelsRun> levels;  // or a hierarchy
  bool in_use = false;                // on this rank
};

// What Sumac keeps of a communicator, until the MPI tells that it has ended. MPI allows one
// collective call at a time on it, so its fields need no lock; what is under way after such a call
// is in `queue`, which has one. The memory is never given back, only used again for another
// communicator: a thread that looks up a handle may glance at one that just ended.
struct Communicator {
  enum class State : std::uint8_t {
    counting,     // not set up yet: the first calls go to the MPI
    handed_down,  // for good, see reason
    alone,        // one rank
    together,     // shared memory is set up
  };

  std::atomic<std::uintptr_t> handle{0};  // 0: not in use
  State state = State::counting;
  Reason reason = Reason::first_calls;
  std::uint64_t calls = 0;
  MPI_Comm comm = MPI_COMM_NULL;
  int rank = 0, size = 0;

  // The ranks as one group in shared memory.
  ShmGroup group;
  WaitPolicy wait_policy;
  PlanTable plans;

  // The ranks as a hierarchy, where the collective has one; else null. Collectives of the same
  // hierarchy share it.
  LevelsRun* levels_for[kNumCollectives] = {};
  std::vector<std::unique_ptr<LevelsRun>> levels;
  std::vector<std::byte*> blocks;  // of shared memory, to be released
  std::string hierarchy;           // of an info key; empty: the option's

  Work work;               // of the blocking call going on
  const char* doing = "";  // its name, for messages
  MpiFold fold;            // what folds in it, where that is a function of the program's

  // Nonblocking and persistent calls under way.
  WorkQueue queue;
  bool may_overlap = false;       // agreed: they end on every rank even while it computes
  bool deferred = false;          // there have been such calls: the same on all ranks
  bool watched = false;           // `queue` is, by the engine
  std::atomic<bool> left{false};  // the communicator has gone while some were under way
  // Of the state: the communicator, its persistent requests, and what is under way after its end.
  std::atomic<int> keepers{1};
  std::vector<std::unique_ptr<OwnRanks>> own_ranks;  // in the same order on all ranks

  // For traces: which communicator this is, the same on all its ranks, and its operations so far.
  std::uint64_t trace_group = 0, traced = 0;

  std::unique_ptr<CrossMemoryAttach> attach;
  std::vector<pid_t> pids;               // by rank; 0 where this rank cannot tell whether it lives
  std::vector<std::uint64_t> processes;  // by rank: which process it is
  Stats stats;

  const Choice& choose(Collective collective, std::size_t bytes) const {
    const LevelsRun* run = levels_for[static_cast<int>(collective)];
    return (run ? run->plans() : plans).choose(collective, bytes);
  }
  Ranks ranks(Collective collective) {
    return {&group, levels_for[static_cast<int>(collective)], attach.get()};
  }
  Ranks ranks(OwnRanks& own) { return {&own.group, own.levels.get(), attach.get()}; }
  bool sends_messages() const {
    return std::any_of(levels.begin(), levels.end(),
                       [](const auto& run) { return run->messages() != nullptr; });
  }
  // The engine looks at the queue, which is empty, no more. This waits for whoever looks at all
  // queues right now, and may be calling the MPI: not to be done in a callback of the MPI's.
  void stop_watching();
  // Ends hierarchies, and with them messages between ranks: where those are not to be kept for
  // another communicator, all ranks must do so at the same time. No call will be taken any more.
  void end_levels();
};

// The communicator behind a handle; null when it is not known yet.
Communicator* find_communicator(MPI_Comm comm);

// The same, known from now on; null where that cannot be.
Communicator* find_or_remember(MPI_Comm comm);

// After a collective call which may wait for other ranks and that the MPI has served without an
// error, so that all its ranks come here. Remembers the communicator, and sets it up when its time
// has come. `calls`: that it counts as; `all_entered`: it ends on no rank before all have made it.
void count_call(MPI_Comm comm, std::uint64_t calls, bool all_entered);

// One of those that keep the state has gone.
void drop_keeper(Communicator& communicator);

// The program frees the communicator now. Does not wait for what is under way.
void leave(Communicator& communicator);
// Something that was under way has ended on a communicator that has been left.
void let_go(Communicator& communicator);

// Ranks agree on their options after so many calls, whatever their options are: SUMAC_BUILD_AFTER
// can only put off what comes then.
inline constexpr std::uint64_t kAgreeAfter = 2;

// Agrees with all ranks of the communicator on how it is served.
void set_up(Communicator& communicator, bool all_entered);

// Those that are known, or were.
std::vector<Communicator*> all_communicators();

// Counts of all communicators and of the process.
Stats all_stats();

// After finalisation: those of which the MPI has not told.
void forget_communicators();

}  // namespace sumac
