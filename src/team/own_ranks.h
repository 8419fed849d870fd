// SPDX-License-Identifier: BSD-3-Clause
// Persistent operations are carried out each on slots, lanes and tags of its own, which all ranks
// agree on when it is initialised. So operations are matched by the order of their initialisation,
// whatever the order in which ranks start them.
#pragma once

#include "team/team.h"

namespace sumac {

// Collective; waits for all ranks. Returns a place that no other operation uses on any rank, for an
// operation of the collective that takes `choice`, or tries to go direct first. Returns null, on
// all ranks, if there is no memory for it.
OwnRanks* acquire_own_ranks(Team& team, Collective collective, const Choice& choice,
                            bool direct = false);

}  // namespace sumac
