// SPDX-License-Identifier: BSD-3-Clause
// Begins or initialises nonblocking and persistent calls that have been decided. Whatever must
// happen at the end of one belongs around deliver() of requests.h.
#pragma once

#include "interpose/calls/decide.h"

namespace sumac {

struct CollectiveRequest;

// These return what the program's call returns. A call that is handed down may be decided anew, as
// in perform_now().
int perform_nonblocking(Entry& entry, const Call& call, const Decision& decision);
int perform_persistent(Entry& entry, const Call& call, const Decision& decision);

// Begins the call that the request describes, with the data as they are now.
void start(CallRecord& record, CollectiveRequest& request);

}  // namespace sumac
