// SPDX-License-Identifier: BSD-3-Clause
// A communicator without its MPI: what its ranks have agreed on, the shared memory, hierarchies and
// messages they have for it, and what is under way.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "levels/levels_run.h"
#include "machine/liveness.h"
#include "observe/stats.h"
#include "progress/queue.h"
#include "rules/choice_table.h"
#include "team/context.h"
#include "team/direct_tries.h"
#include "team/idle_messages.h"
#include "team/oob.h"
#include "team/spec.h"
#include "team/trials.h"
#include "transport/cma.h"
#include "transport/shm/group.h"

namespace sumac {

// The slots, lanes and tags of one persistent operation. Ranks may start persistent operations in
// any order, and before or after other operations, so these must share no slots, lanes or tags,
// whose uses are numbered.
struct OwnRanks {
  Needs needs = Needs::lines;         // what the place is good for,
  const LevelsRun* like = nullptr;    // and the hierarchy of which `levels` is another one
  ShmGroup group;                     // one group in shared memory
  std::unique_ptr<LevelsRun> levels;  // or a hierarchy
  bool in_use = false;                // on this rank
};

// A rank of which this one can see whether its process runs.
struct WatchedRank {
  WatchedProcess process;
  int job_rank = -1;  // -1 where it is not known
};

// A team as one of its ranks sees it. MPI allows one collective call at a time on a communicator,
// so the fields need no lock; operations under way after such a call are in `queue`, which has one.
struct Team {
  enum class State : std::uint8_t {
    counting,     // not set up yet: the first calls go to the MPI
    handed_down,  // for good, see reason
    alone,        // one rank
    together,     // set up
  };

  Team(const Context& its_context, Oob& its_oob) : context(its_context), oob(its_oob) {}
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  const Context& context;
  Oob& oob;

  State state = State::counting;
  Reason reason = Reason::first_calls;
  int rank = 0, size = 0;
  TeamSpec spec;

  // The ranks as one group in shared memory.
  ShmGroup group;
  WaitPolicy wait_policy;
  ChoiceTable choices;

  // Null where no call goes direct.
  std::unique_ptr<DirectTries> direct_tries;

  // The ranks as a hierarchy, for collectives that have one; else null. Collectives with the same
  // hierarchy share it.
  LevelsRun* levels_for[kNumCollectives] = {};
  std::vector<std::unique_ptr<LevelsRun>> levels;
  std::vector<TeamMessages> messages;  // of hierarchies that need some
  std::vector<std::byte*> blocks;      // of shared memory, to be released
  std::string hierarchy;               // of an info key; empty: the option's

  Work work;               // of the blocking call going on
  const char* doing = "";  // its name, for messages

  // The nonblocking and persistent calls under way.
  WorkQueue queue;
  bool may_overlap = false;  // agreed: they end on every rank even while it computes
  bool deferred = false;     // there have been such calls: the same on all ranks
  std::vector<std::unique_ptr<OwnRanks>> own_ranks;  // in the same order on all ranks

  // For traces: the team's number, the same on all its ranks, and the number of its operations so
  // far.
  std::uint64_t trace_group = 0, traced = 0;
  bool reports_together = false;  // agreed: it is the whole job, and SUMAC_STATS=all on all ranks

  std::unique_ptr<PeerMemory> peers;     // where ranks reach one another's buffers, else null
  RefusalsMet refusals;                  // of one another's buffers, in earlier calls
  std::vector<pid_t> pids;               // by rank; 0 where attach does not work
  std::vector<WatchedRank> watched;      // by rank
  std::vector<std::uint64_t> processes;  // by rank: which process it is
  Stats stats;
  Trials trials;  // which path is the fastest at which sizes

  Choice choose(Collective collective, std::size_t bytes) const {
    const LevelsRun* run = levels_for[static_cast<int>(collective)];
    const Choice& choice = (run ? run->choices() : choices).choose(collective, bytes);
    return refusals.agreed ? without_single_copy(choice) : choice;
  }
  // The direct algorithm to be tried before `otherwise`, or native.
  Algorithm choose_direct(Collective collective, std::size_t bytes, Algorithm otherwise) const {
    if (!direct_tries || refusals.agreed) return Algorithm::native;
    const LevelsRun* run = levels_for[static_cast<int>(collective)];
    return run ? run->choose_direct(collective, bytes, otherwise)
               : direct_tries->choose(collective, bytes, otherwise);
  }
  // What else may serve such calls of one group with the same results; native where nothing.
  Choice choose_other(Collective collective, std::size_t bytes, const Choice& chosen) const;
  Ranks ranks(Collective collective) {
    return {&group, levels_for[static_cast<int>(collective)], peers.get(), &refusals,
            spec.measured.streams()};
  }
  Ranks ranks(OwnRanks& own) {
    return {&own.group, own.levels.get(), peers.get(), &refusals, spec.measured.streams()};
  }
  bool sends_messages() const { return !messages.empty(); }

  // Ends the hierarchies, and with them messages between ranks. Where the messages are not kept for
  // another team, all ranks must do so at the same time. No call is served afterwards.
  void end_levels();
  // Gives shared memory and hierarchies back.
  void give_back();
  // Resets all but `work` and `queue`, in which nothing may be under way.
  void reset();
};

// Whether flags tell ranks apart that call different operations (SUMAC_CHECK=calls): agreed.
bool marks_calls(const Team& team);

}  // namespace sumac
