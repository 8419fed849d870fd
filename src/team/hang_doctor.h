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

// Ends the job, with a line that says who calls what, if this rank and another one that shares
// memory with it are in different calls on the team, as both have announced. Only for a rank that
// has waited long. Returns whether they are; an MPI that another thread is ending already may
// return.
bool end_if_calls_differ(const Team& team);

}  // namespace sumac
