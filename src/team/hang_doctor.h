// SPDX-License-Identifier: BSD-3-Clause
// A rank finds this out about a wait that takes long.
#pragma once

#include "team/team.h"

namespace sumac {

// This is the callback of WaitPolicy, once a second; `context` is a Team. It tells about the wait
// in this process's page (hang_doctor_page.h). After SUMAC_HANG_SECONDS, one of the ranks that wait
// reports where all are. The job ends if one that is waited for no longer exists, since nothing
// else may end it.
void report_late(void* context, double seconds);

}  // namespace sumac
