// SPDX-License-Identifier: BSD-3-Clause
// A team is a communicator without its MPI: what its ranks have agreed on, the shared memory,
// hierarchies and messages they have for it, and what is under way.
#pragma once

#include <sys/types.h>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/rank_list.h"
#include "levels/levels_run.h"
#include "machine/liveness.h"
#include "observe/stats.h"
#include "progress/queue.h"
#include "rules/choice_table.h"
#include "team/context.h"
#include "team/direct_tries.h"
#include "team/oob.h"
#include "team/spec.h"
#include "team/trials.h"
#include "transport/cma.h"
#include "transport/shm/group.h"

namespace sumac {

// This rank can see whether the process of that rank runs.
struct WatchedRank {
  WatchedProcess process;
  int job_rank = -1;  // -1: not known
};

struct OwnNode {
  RankList ranks;  // ranks of the team, in ascending order
  // These are indexed by place in `ranks`.
  std::vector<std::uint64_t> processes;  // which process it is
  std::vector<pid_t> pids;               // 0 if attach does not work
  std::vector<WatchedRank> watched;      // empty if the process cannot be seen

  // Returns the entries of these ranks, which are all on the node.
  template <class Value>
  std::vector<Value> of(const std::vector<Value>& values, const RankList& members) const {
    std::vector<Value> list;
    for (const int rank : members) {
      list.push_back(values[static_cast<std::size_t>(ranks.index_of(rank))]);
    }
    return list;
  }
};

// These are the slots, lanes and tags of one persistent operation. Ranks may start persistent
// operations in any order, and before or after other operations, so these must share no slots,
// lanes or tags, whose uses are numbered.
struct OwnRanks {
  Needs needs = Needs::lines;         // operations that need this can use it
  const LevelsRun* like = nullptr;    // `levels` is another one of this hierarchy
  ShmGroup group;                     // one group in shared memory
  std::unique_ptr<LevelsRun> levels;  // or a hierarchy
  bool in_use = false;                // this rank uses it
};

// The ranks have agreed on this when the team was set up, and have made it for the team. It can be
// moved to another team of the same ranks once nothing is under way in it (idle_teams.h).
struct TeamSetUp {
  TeamSpec spec;

  // All ranks are one group in shared memory.
  ShmGroup group;
  WaitPolicy wait_policy;
  ChoiceTable choices;

  // Null if no call goes direct.
  std::unique_ptr<DirectTries> direct_tries;
  // Agreed: the ranks of each node see all of each other's memory (transport/xpmem.h), and not only
  // what was moved or born where others map it.
  bool sees_all_memory = false;

  // Collectives that have a hierarchy find it here; the others have null. Collectives with the same
  // hierarchy share it.
  LevelsRun* levels_for[kNumCollectives] = {};
  std::vector<std::unique_ptr<LevelsRun>> levels;
  std::vector<TeamMessages> messages;                // messages of the hierarchies that need some
  std::vector<std::byte*> blocks;                    // shared memory to be released
  std::vector<std::unique_ptr<OwnRanks>> own_ranks;  // in the same order on all ranks

  bool may_overlap = false;  // agreed: calls end on every rank even while it computes
  bool may_be_idle = false;  // agreed: it may wait for another team of the same ranks
  bool has_devices = false;  // agreed: a rank may have data in a GPU's memory
  // The back end's hash of what may change while this process runs, and was taken into account.
  std::uint64_t state_of_process = 0;

  // Traces need the team's number, the same on all its ranks, and the number of its operations so
  // far.
  std::uint64_t trace_group = 0, traced = 0;
  bool reports_together = false;  // agreed: it is the whole job, and SUMAC_STATS=all on all ranks

  bool streams = false;               // stores into others' memory go past the caches (Measured)
  std::unique_ptr<PeerMemory> peers;  // null if ranks do not reach one another's buffers
  OwnNode node;                       // the ranks of this rank's node
  std::uint64_t first_process = 0;    // rank 0's process; 0: not known yet
  std::uint64_t members = 0;          // hash of all ranks' processes, in their order
  Trials trials;                      // finds which route is the fastest at which sizes
};

// A team as one of its ranks sees it. MPI allows one collective call at a time on a communicator,
// so the fields need no lock; operations under way after such a call are in `queue`, which has one.
struct Team : TeamSetUp {
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
  std::string hierarchy;  // text of an info key; empty: the option's text
  // Hash of the ranks' numbers in MPI_COMM_WORLD, in their order; 0 if that is not known.
  std::uint64_t identity = 0;

  Work work;  // the blocking call going on
  // The number of the last call's collective, for messages: -1 before the first. Any thread reads
  // it.
  std::atomic<int> doing{-1};

  // The queue has the nonblocking and persistent calls under way.
  WorkQueue queue;
  bool deferred = false;  // there have been such calls: the same on all ranks

  RefusalsMet refusals;  // transfers that were refused in earlier calls
  CallCounts stats;

  Choice choose(Collective collective, std::size_t bytes) const {
    const LevelsRun* run = levels_for[static_cast<int>(collective)];
    const Choice& choice = (run ? run->choices() : choices).choose(collective, bytes);
    return refusals.agreed ? without_single_copy(choice) : choice;
  }
  // Returns the direct algorithm that is tried before `otherwise`, or native.
  Algorithm choose_direct(Collective collective, std::size_t bytes, Algorithm otherwise) const {
    if (!direct_tries || refusals.agreed) return Algorithm::native;
    const LevelsRun* run = levels_for[static_cast<int>(collective)];
    return run ? run->choose_direct(collective, bytes, otherwise)
               : direct_tries->choose(collective, bytes, otherwise);
  }
  // Returns a bit for each std::bit_width(bytes) of calls that may go direct. It is the same on all
  // ranks, which count the same calls in trials. Groups of a hierarchy differ in what they would
  // try, so over levels any call may.
  std::uint64_t direct_classes(Collective collective) const {
    if (!direct_tries) return 0;
    const bool over_levels = levels_for[static_cast<int>(collective)] != nullptr;
    return over_levels ? ~std::uint64_t{0} : direct_tries->classes(collective);
  }
  // Notes, behind each call that is awake in the trials, what may stand around calls of so many
  // bytes from now on. With `always`, something does. A class is at rest for at most `rest` calls,
  // the same on all ranks.
  void note_around(Collective collective, std::size_t bytes, bool always,
                   std::uint32_t rest = UINT16_MAX);
  // Returns what else may serve such calls with the same results, the likeliest first. Over levels
  // reductions have none: their algorithms fold in different trees.
  std::vector<Choice> choose_others(Collective collective, std::size_t bytes,
                                    const Choice& chosen) const;
  Ranks ranks(Collective collective) {
    return {&group, levels_for[static_cast<int>(collective)], peers.get(), &refusals, streams};
  }
  Ranks ranks(OwnRanks& own) {
    return {&own.group, own.levels.get(), peers.get(), &refusals, streams};
  }
  bool sends_messages() const { return !messages.empty(); }

  // Ends the hierarchies, and with them messages between ranks. If the messages are not kept for
  // another team, all ranks must do so at the same time. No call is served afterwards.
  void end_levels();
  // Gives shared memory and hierarchies back.
  void give_back();
  // Makes the team ready to be set up again; its rank and size stay. Nothing may be under way in
  // `work` and `queue`.
  void reset();
};

// Returns true if flags tell apart ranks that call different operations (SUMAC_CHECK=calls). The
// ranks have agreed on it.
bool marks_calls(const Team& team);

}  // namespace sumac
