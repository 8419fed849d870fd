// SPDX-License-Identifier: BSD-3-Clause
// What a rank finds out about a wait that takes long.
#pragma once

#include "team/team.h"

namespace sumac {

// Callback of WaitPolicy, once a second; `context` is a Team. Tells about the wait in this
// process's page (hang_doctor_page.h). After SUMAC_HANG_SECONDS, one of the ranks that wait reports
// where all are. Ends the job when one that is waited for no longer exists, since nothing else may
// end it.
void report_late(void* context, double seconds);

// Ends the job with a line that says that this rank and `rank` are in different calls on the team,
// as both have announced: the calls of this number, or the last ones with 0.
void end_for_different_calls(const Team& team, int rank, std::uint64_t number);

}  // namespace sumac
