// SPDX-License-Identifier: BSD-3-Clause
// What a rank finds out about a wait that takes long.
#pragma once

#include "team/team.h"

namespace sumac {

// Callback of WaitPolicy; `context` is a Team. Says once, after SUMAC_HANG_SECONDS, which ranks
// have not arrived; ends the job when one of them no longer exists, as nothing else may.
void report_late(void* context, double seconds);

// This rank and that one are in different calls on the team, as both have announced: ends the job
// with a line that says so.
void end_for_different_calls(const Team& team, int rank);

}  // namespace sumac
