// SPDX-License-Identifier: BSD-3-Clause
// SUMAC_ADAPT: calls of sizes at which the MPI's own function is found to be faster are handed
// down. team/trials.h says how that is found; here, which calls take part.
#pragma once

#include "interpose/calls/decide.h"

namespace sumac {

// True when the trials of the call's communicator concern it: a call that Sumac would serve, of a
// size that is not known to be Sumac's. Reductions whose result depends on who folds take part only
// where the option says so, and none where they are to keep the order of ranks. The same on all
// ranks.
inline bool takes_turns(const Call& call, const Decision& decision) {
  const Collective collective = call.collective();
  if (!decision.communicator->trials.is_open(collective, decision.bytes)) [[likely]]
    return false;
  const KnownReduction* reduction = decision.reduction;
  if (reduction && options.reproducible) return false;
  const bool exact = !reduction || reduction->exact;
  return decision.way == Decision::Way::serve &&
         (exact || static_cast<Adapt>(options.adapt) != Adapt::exact);
}

// Counts a blocking call that takes turns, and says who serves it. May wait for the other ranks.
Turn next_turn(const Call& call, const Decision& decision);

// Records how long (ns) a call took that was timed.
void note_turn(const Call& call, const Decision& decision, Turn turn, std::uint64_t ns);

}  // namespace sumac
