// SPDX-License-Identifier: BSD-3-Clause
// The processes of some ranks of a team may have ended while others need them.
#pragma once

#include <vector>

#include "team/hello.h"
#include "team/team.h"

namespace sumac {

// Returns the ranks of this node of which `rank` can see whether their processes run; the others
// are left empty. The launcher and the MPI watch ranks of other nodes.
std::vector<WatchedRank> watch_ranks(const std::vector<Hello>& hellos, int rank);

bool is_lost(const Team& team, int rank);

// Ends the job with a line that names the rank, its process and its host.
void end_for_lost_rank(const Team& team, int rank);

}  // namespace sumac
