// SPDX-License-Identifier: BSD-3-Clause
// A rank finds this out about a wait that takes long, and about ranks whose processes have ended
// while others need them.
#pragma once

#include <vector>

#include "team/hello.h"
#include "team/team.h"

namespace sumac {

// This is the callback of WaitPolicy, once a second, for a wait in a call on the team that
// `context` is. It tells about the wait in this process's page (hang_doctor_page.h). After
// SUMAC_HANG_SECONDS, one of the ranks that wait reports where all are. The job ends if one that is
// waited for no longer exists, or calls something else, since nothing else may end it.
void report_late(void* context, double seconds);
// Does the same, if anything is under way on the team, for a wait of a thread that is in no call on
// it, such as MPI_Wait. Another thread may be.
void report_late_beside(void* context, double seconds);

// Returns the ranks of this node, whose hellos these are, as `own` can see whether their processes
// run; those of which it cannot are left empty. The launcher and the MPI watch ranks of other
// nodes.
std::vector<WatchedRank> watch_ranks(const std::vector<Hello>& node, const Hello& own);

bool is_lost(const Team& team, int rank);

// Ends the job with a line that names the rank, its process and its host.
void end_for_lost_rank(const Team& team, int rank);

}  // namespace sumac
