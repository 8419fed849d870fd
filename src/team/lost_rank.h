// SPDX-License-Identifier: BSD-3-Clause
// Ranks of a team whose processes have ended while others need them.
#pragma once

#include <vector>

#include "team/hello.h"
#include "team/team.h"

namespace sumac {

// The ranks of this node of which `rank` can see whether their processes run: the others are left
// empty. Ranks of other nodes are left to the launcher and the MPI.
std::vector<WatchedRank> watch_ranks(const std::vector<Hello>& hellos, int rank);

bool is_lost(const Team& team, int rank);

// Any rank of the team that is lost, or -1; for a rank that could not reach another one's memory,
// which a process that ends loses somewhat before it is gone. Takes 0.2 s where none is.
int find_lost_soon(const Team& team);

// Ends the job with a line that names the rank, its process and its host.
void end_for_lost_rank(const Team& team, int rank);

}  // namespace sumac
