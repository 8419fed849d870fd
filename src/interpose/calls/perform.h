// SPDX-License-Identifier: BSD-3-Clause
// Carries a decided blocking call out, and hands calls of any form down. Deferred calls that are
// served are begun in requests/deferred_calls.h.
#pragma once

#include "interpose/calls/call_data.h"
#include "interpose/calls/decide.h"

namespace sumac {

// Returns what the program's call returns.
int perform_now(Entry& entry, const Call& call, const Decision& decision);

// Leaves the call to the MPI, counts it, and sets its communicator up where that may be done.
int hand_down(Entry& entry, const Call& call, const Decision& decision);
// Returns the error of a call whose arguments are wrong.
int refuse(Entry& entry, const Decision& decision);

// How a call reaches the MPI: by its own function, unless what packs messages stands before it.
extern int (*hand_to_mpi)(const Call& call);

// True when a call that returned `error` was made together with the other ranks' calls. A call
// whose arguments were refused was not made; one that failed later (MPI_ERR_TRUNCATE) was, and
// counts, lest this rank counts otherwise than those on which it succeeded.
bool was_made(int error);

// For the statistics.
void count_hand_down(Entry& entry, const Decision& decision);
void count_served(CallRecord& record, Stats& stats, const CallData& data, Algorithm algorithm);
// The size of a call that was left to the MPI, perhaps before it was looked at. The MPI has
// accepted the call: it would tell an error handler of wrong arguments.
std::size_t bytes_of(const Call& call, const Decision& decision);

// The part of perform_now() for a reduction by the program's function.
int run_user_reduction(Entry& entry, const Call& call, const Decision& decision);

}  // namespace sumac
