// SPDX-License-Identifier: BSD-3-Clause
// With SUMAC_ADAPT, calls of sizes at which another algorithm or the MPI's own function is found to
// be faster go that way. team/trials.h says how that is found; this header says which calls take
// part.
//
// Blocking calls are timed. Nonblocking and persistent ones are not, since the program computes
// between their start and their end, and no rank may wait at a start for others to agree. They go
// by the algorithm of Sumac's that blocking calls of the same class have found to be the fastest
// when they are made: what has been agreed on changes in blocking calls and at the initialisation
// of persistent ones, which all ranks make in one order with these.
#pragma once

#include "interpose/calls/decide.h"

namespace sumac {

// Says whose results a call may have. The results of a reduction that rounds depend on who folds:
// the MPI's may be taken only if the option says so.
inline Results results_of(const Decision& decision) {
  const bool exact = !decision.reduction || decision.reduction->exact;
  return exact || static_cast<Adapt>(options.adapt) != Adapt::exact ? Results::any : Results::own;
}

// Returns true if the trials of the call's communicator concern it: Sumac would serve the call, and
// it may choose how. Reductions that must keep the order of ranks take no part. The result is the
// same on all ranks.
inline bool takes_turns(const Call& call, const Decision& decision) {
  if (decision.reduction && options.reproducible) return false;
  return decision.communicator->trials.is_open(call.collective(), decision.bytes,
                                               results_of(decision));
}

// Ends the rounds of the communicator's comparisons that are over. Waits for all ranks.
void agree_on_turns(Communicator& communicator);

// Counts a blocking call that takes turns, and says how it goes.
Turn next_turn(const Call& call, const Decision& decision);

// Returns the choice for a nonblocking or persistent call whose blocking kin take turns.
Choice learnt_choice(const Call& call, const Decision& decision);

// Returns the choice for a call whose turn is Route::other.
const Choice& other_choice(const Call& call, const Decision& decision);

// Records how long (ns) a call took that was timed.
void note_turn(const Call& call, const Decision& decision, std::uint64_t ns);

}  // namespace sumac
