// SPDX-License-Identifier: BSD-3-Clause
// Requests of collectives in a profile: how long the program was in the calls that completed them.
// A call that completes several is shared equally between those that are collectives.
#pragma once

#include "interpose/mpi/constants.h"
#include "interpose/requests/events.h"
#include "interpose/watch/profile.h"

namespace sumac {

// Notes what the MPI has made for a call. Of a persistent operation, `made` is what its starts are
// like.
void hold_request(MpiRequest request, const EndedCall& made, bool persistent);

// Adds what has not ended.
void end_profiled_requests();

RequestListener& profile_listener();

}  // namespace sumac
