// SPDX-License-Identifier: BSD-3-Clause
// This header has what Sumac keeps of an MPI communicator, and finds it from the handle.
#pragma once

#include <algorithm>
#include <atomic>
#include <vector>

#include "interpose/mpi/constants.h"
#include "interpose/mpi/known_reductions.h"
#include "interpose/mpi/mpi_fold.h"
#include "interpose/mpi/mpi_messages.h"
#include "interpose/mpi/world.h"
#include "interpose/process/process.h"
#include "interpose/stub/stub.h"
#include "team/context.h"
#include "team/idle_teams.h"
#include "team/oob.h"
#include "team/team.h"

namespace sumac {

struct Communicator;

// A team needs this of its MPI: out-of-band communication and progress.
class MpiOob final : public Oob {
 public:
  explicit MpiOob(Communicator& communicator) : communicator_(communicator) {}
  void all_gather(const void* own, void* all, std::size_t bytes) override;
  void gather(const void* own, void* all, std::size_t bytes) override;
  bool all_gather_among(const RankList& members, const void* own, void* all,
                        std::size_t bytes) override;
  void all_and(std::uint64_t* words, std::size_t count) override;
  void all_max(std::uint64_t* words, std::size_t count) override;
  void broadcast(void* data, std::size_t bytes) override;
  bool make_messages(std::shared_ptr<Messages>& made) override;
  // Drives the MPI's progress, since all may wait for a peer's rendezvous send to this rank, and
  // with it everything else that is under way.
  void drive() override;
  std::string name() override;
  void end_job() override;

  // Sends everything that follows by the board, and waits for the others by this policy; if it is
  // null, by the MPI again.
  void use_board(Board* board, const WaitPolicy& policy) {
    board_ = board;
    policy_ = policy;
  }

 private:
  std::vector<std::byte> gather_on_board(const void* own, std::size_t bytes);
  template <class Fold>
  void fold_on_board(std::uint64_t* words, std::size_t count, Fold fold);

  Communicator& communicator_;
  Board* board_ = nullptr;
  WaitPolicy policy_;
};

// Returns what the teams of this process share.
const Context& team_context();

// Drives the MPI's progress alone.
void probe_mpi(const Communicator& communicator);

// WaitPolicy calls this: it does report_late() for every communicator on which something is under
// way. The context is not used.
void report_late_anywhere(void*, double seconds);

// Programs mostly repeat a reduction with the same count, type and operation, so a communicator
// keeps what followed from these the last time. All of it holds until refusals are agreed on.
struct SettledReduction {
  MpiCount count = -1;              // -1: nothing is settled
  std::uintptr_t type = 0, op = 0;  // bits of handles that the program cannot free
  Collective collective = Collective::allreduce;
  Choice choice;
  std::size_t bytes = 0;
  const KnownReduction* reduction = nullptr;
  std::uint16_t* rest = nullptr;  // Trials::rest_of()
};

// This is what Sumac keeps of a communicator, until the MPI tells that it has ended. The memory is
// never given back, only used again for another communicator: a thread that looks up a handle may
// glance at one that just ended.
struct Communicator : Team {
  Communicator() : Team(team_context(), by_mpi) {}

  std::atomic<std::uintptr_t> handle{0};  // 0: not in use
  MpiComm comm = kMpi.comm_null;
  MpiOob by_mpi{*this};
  std::uint64_t calls = 0;
  std::uint64_t weight = 0;      // sum over the calls that may wait, see count_call()
  std::uint64_t own_weight = 0;  // sum over those of which only some may wait, on this rank
  KnownGroup* known = nullptr;   // null if its ranks are not known to have met before
  bool sought = false;           // they have looked for an idle team
  std::uint64_t asks_at = 0;    // ranks are not asked before so many calls whether all are heard of
  bool agreed = false;          // the ranks have compared their options
  std::uint64_t checkable = 0;  // calls whose results could be checked

  SettledReduction settled;
  int profiled = -1;  // its number in the profile; -1: none

  MpiFold fold;  // folds in the communicator, if a function of the program's does it

  bool watched = false;           // the engine watches `queue`
  std::atomic<bool> left{false};  // the communicator has gone while some operations were under way
  // Counts the users of the state: the communicator, its persistent requests, and what is under way
  // after its end.
  std::atomic<int> keepers{1};

  // Ends the engine's watch of the queue, which is empty. Waits for a thread that is looking at all
  // queues and may be calling the MPI, so it must not be called in a callback of the MPI's.
  void stop_watching();
};

// Returns the communicator of a handle; null if it is not known yet.
Communicator* find_communicator(MpiComm comm);

// Returns the communicator of a handle, which is known from now on; null if that cannot be.
Communicator* find_or_remember(MpiComm comm);

// A call that the MPI has served tells this of the other ranks. All ranks know the same, but for
// the last two: the counts of an MPI_Alltoallv tell a rank only what it gets itself.
enum class Others : std::uint8_t {
  may_be_late,  // they may make the call only after this rank has gone on, so it must not wait
  will_come,    // the call may wait for them
  have_come,    // all have made the call: it ends on no rank before
  heard_of,     // this rank has data from all, so all have made the call
  not_heard_of  // some have sent this rank nothing, and may be late
};

// Returns true if each rank knows only of itself whether all have made the call.
constexpr bool is_asked(Others others) {
  return others == Others::heard_of || others == Others::not_heard_of;
}
// Returns true if all ranks know that they may wait for one another in the call.
constexpr bool may_wait(Others others) {
  return others == Others::will_come || others == Others::have_come;
}

// Must be called after a collective call that the MPI has served without an error, so that all its
// ranks come here. Remembers the communicator, and sets it up in the first call that may wait for
// the other ranks once enough calls have been made. `calls` is the number of calls that it counts
// as. Where only some may wait, the ranks are asked in calls 2, 4, 8 and so on.
//
// Ranks that have met before look for an idle team once the calls that may wait weigh enough to
// repay that (kSeekAfter). If they have none, the communicator is one of several that they use, and
// is set up once it has had many calls, or those on all of them weigh as much: `weight` is the
// number of calls of few bytes that this one weighs as much as, the same on all ranks; 0 if others
// may make it in another order. Where only some may wait it is this rank's own, and a rank to which
// a set-up is not worth it says that it does not wait.
void count_call(MpiComm comm, std::uint64_t calls, Others others, std::uint64_t weight);

// Runs a call that is described. The communicator's state must be `together`. `direct` is what is
// tried first; the communicator's work tells how that ended.
void run(Communicator& communicator, const ChosenCall& call, const DirectTry& direct = {});

// Returns true if `own` is true on all ranks of a communicator whose state is `together`. Waits for
// all of them.
bool agree(Communicator& communicator, bool own);

// Returns the teams of communicators that have ended.
IdleTeams& idle_teams();

// Takes over MPI_Comm_set_info and MPI_Comm_dup_with_info, which may name a hierarchy (info.cc).
void redirect_info(const sumac_stub& stub);

// Removes one user of the state.
void drop_keeper(Communicator& communicator);

// Must be called when the program frees the communicator. Does not wait for what is under way.
void leave(Communicator& communicator);
// Must be called when an operation has ended on a communicator that has been left.
void let_go(Communicator& communicator);

// Ranks agree on their options in the first call that may wait for all of them, but not before this
// call, whatever the options are: SUMAC_BUILD_AFTER can only delay what follows.
inline constexpr std::uint64_t kAgreeAfter = 2;

// To take up an idle team takes as long as this number of calls of few bytes save.
inline constexpr std::uint64_t kSeekAfter = 4;

// Returns true if a communicator of this state is set up in a call that tells this of the others.
// Only calls that may wait have the same order on all ranks as those on other communicators.
inline bool has_calls_enough(const Communicator& communicator, Others others) {
  const std::uint64_t calls = communicator.calls;
  if (calls < std::max(kAgreeAfter, options.build_after)) return false;
  const KnownGroup* const known = communicator.known;
  if (!known || is_asked(others) || calls >= options.known_after) return true;
  const bool seeks = may_wait(others) && communicator.weight >= kSeekAfter;
  return seeks && known->weight >= options.known_after;
}

// Returns all communicators that are known, or were.
std::vector<Communicator*> all_communicators();

// Returns the counts of all communicators and of the process.
Stats all_stats();

// Must be called after finalisation: forgets communicators whose end the MPI has not told.
void forget_communicators();

}  // namespace sumac
