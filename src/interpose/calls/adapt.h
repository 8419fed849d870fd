// SPDX-License-Identifier: BSD-3-Clause
// SUMAC_ADAPT: calls of sizes at which another algorithm or the MPI's own function is found to be
// faster go that way. team/trials.h says how that is found; here, which calls take part.
#pragma once

#include "interpose/calls/decide.h"

namespace sumac {

// Whose results a call may have. Those of a reduction that rounds depend on who folds: the MPI's
// may be taken only where the option says so.
inline Results results_of(const Decision& decision) {
  const bool exact = !decision.reduction || decision.reduction->exact;
  return exact || static_cast<Adapt>(options.adapt) != Adapt::exact ? Results::any : Results::own;
}

// True when the trials of the call's communicator concern it: a call that Sumac would serve, of a
// size that is not known to be best served by the rules. Reductions that are to keep the order of
// ranks take no part. The same on all ranks.
inline bool takes_turns(const Call& call, const Decision& decision) {
  if (decision.reduction && options.reproducible) return false;
  return decision.communicator->trials.is_open(call.collective(), decision.bytes,
                                               results_of(decision));
}

// Settles the communicator's comparisons of routes that are over. Waits for all ranks.
void agree_on_turns(Communicator& communicator);

// Counts a blocking call that takes turns, and says how it goes.
Turn next_turn(const Call& call, const Decision& decision);

// The choice by which a call goes whose turn is Route::other.
const Choice& other_choice(const Call& call, const Decision& decision);

// Records how long (ns) a call took that was timed.
void note_turn(const Call& call, const Decision& decision, std::uint64_t ns);

}  // namespace sumac
