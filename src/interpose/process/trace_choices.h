// SPDX-License-Identifier: BSD-3-Clause
// SUMAC_DEBUG=trace reports each decision once. A decision made when a communicator is set up is
// reported then, and not again for others that are served alike; the path of calls is reported when
// the first call takes it (timed.h); and the counts at the end.
#pragma once

#include "interpose/process/communicator.h"
#include "observe/report.h"

namespace sumac {

// Reports what a collective's calls will take, from the communicator's rank 0. `ranks_are` is a
// text like "a hierarchy".
void trace_choices(const Communicator& c, Collective collective, const ChoiceTable& choices,
                   const char* ranks_are);

// Reports at the end, from rank 0 of the job, how many communicators were served alike, and all
// calls.
void trace_counts(const RankReport& report);

}  // namespace sumac
