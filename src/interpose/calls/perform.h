// SPDX-License-Identifier: BSD-3-Clause
// Carries a decided call out, whatever its form: runs it to its end, starts it, or initialises it.
// Whatever is to happen around every call, such as doing it a second time to compare results,
// belongs around perform() and, for the end of a deferred call, around deliver() of requests.h.
#pragma once

#include "interpose/calls/decide.h"

namespace sumac {

struct CollectiveRequest;

// Returns what the program's call returns. A call that is handed down may be decided anew, in
// SUMAC_REPRODUCIBLE (ordered_calls.h).
int perform(Entry& entry, const Call& call, Decision& decision);

// True when a call that returned `error` was made together with the other ranks' calls. A call
// whose arguments were refused was not made; one that failed later (MPI_ERR_TRUNCATE) was, and
// counts, lest this rank counts otherwise than those on which it succeeded.
bool was_made(int error);

// Begins what the request describes, with the data as they are now.
void start(CallRecord& record, CollectiveRequest& request);

// The part of perform() for a blocking reduction by the program's function.
int run_user_reduction(Entry& entry, const Call& call, const Decision& decision);

}  // namespace sumac
