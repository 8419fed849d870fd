// SPDX-License-Identifier: BSD-3-Clause
// Nonblocking and persistent calls: begins or initialises what has been decided. What is to happen
// at the end of one belongs around deliver() of requests.h.
#pragma once

#include "interpose/calls/decide.h"

namespace sumac {

struct CollectiveRequest;

// Return what the program's call returns. A call that is handed down may be decided anew, as in
// perform_now().
int perform_nonblocking(Entry& entry, const Call& call, const Decision& decision);
int perform_persistent(Entry& entry, const Call& call, const Decision& decision);

// Begins what the request describes, with the data as they are now.
void start(CallRecord& record, CollectiveRequest& request);

}  // namespace sumac
