// SPDX-License-Identifier: BSD-3-Clause
// For requests of collectives, a profile says how long the program was in the calls that completed
// them. The time of a call that completes several is shared equally between those that are
// collectives.
#pragma once

#include "interpose/mpi/constants.h"
#include "interpose/requests/events.h"
#include "interpose/watch/profile.h"

namespace sumac {

// Notes the request that the MPI has made for a call. For a persistent operation, `made` says what
// its starts are like.
void hold_request(MpiRequest request, const EndedCall& made, bool persistent);

// Adds the calls that have not ended.
void end_profiled_requests();

RequestListener& profile_listener();

}  // namespace sumac
