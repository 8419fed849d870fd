// SPDX-License-Identifier: BSD-3-Clause
// The statistics of all ranks, brought to rank 0 in MPI_Finalize (SUMAC_STATS=all).
#pragma once

#include <vector>

#include "interpose/backend/communicator.h"
#include "interpose/backend/hello.h"
#include "interpose/backend/report.h"

namespace sumac {

// Called when a communicator is set up. A rank without Sumac, or that was not asked, would be
// waited for in vain: so all ranks of the job must have been in one communicator that was, and want
// it.
void agree_on_gathering(const Communicator& c, const std::vector<Hello>& hellos);

// On rank 0 one report a rank, in their order; on others, and where they cannot be had, none and in
// `why` the reason. Collective over MPI_COMM_WORLD; waits for at most some seconds.
std::vector<RankReport> gather_reports(const RankReport& own, const char*& why);

}  // namespace sumac
