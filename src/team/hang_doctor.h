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

}  // namespace sumac
