// SPDX-License-Identifier: BSD-3-Clause
// SUMAC_DEBUG=trace: each decision once. What is decided when a communicator is set up is told
// then, but not again for others that are served alike; which way calls went, when the first one
// goes there (timed.h); and how often, at the end.
#pragma once

#include "interpose/backend/communicator.h"
#include "observe/report.h"

namespace sumac {

// What a collective's calls will take, told by the communicator's rank 0. `ranks_are`: "a
// hierarchy".
void trace_plans(const Communicator& c, Collective collective, const PlanTable& plans,
                 const char* ranks_are);

// At the end, by rank 0 of the job: how many communicators were served alike, and all calls.
void trace_counts(const RankReport& report);

}  // namespace sumac
