// SPDX-License-Identifier: BSD-3-Clause
// Carries a decided blocking call out, and hands calls of any form down. Deferred calls that are
// served are begun in requests/deferred_calls.cc.
#pragma once

#include "interpose/calls/call_data.h"
#include "interpose/calls/decide.h"

namespace sumac {

// Returns what the program's call returns.
int perform_now(Entry& entry, const Call& call, const Decision& decision);

// Leaves the call to the MPI, counts it, and sets its communicator up if that may be done.
int hand_down(Entry& entry, const Call& call, const Decision& decision);
// Returns the error of a call whose arguments are wrong.
int refuse(Entry& entry, const Decision& decision);

// A call reaches the MPI by this: its own function, unless what packs messages stands before it.
extern int (*hand_to_mpi)(const Call& call);

// Returns true if a call that returned `error` was made together with the other ranks' calls. A
// call whose arguments were refused was not made. A call that failed later (MPI_ERR_TRUNCATE) was
// made, and counts, because it counts on the ranks on which it succeeded.
bool was_made(int error);

// These count for the statistics.
void count_hand_down(Entry& entry, const Decision& decision);
void count_served(CallRecord& record, CallCounts& stats, const CallData& data, Algorithm algorithm);
// Returns the size of a call that was left to the MPI, perhaps before it was looked at. The MPI
// must have accepted the call: it would tell an error handler of wrong arguments.
std::size_t bytes_of(const Call& call, const Decision& decision);

// Returns the arguments of a reduction to all ranks or to one.
ReduceArguments reduction_of(const Call& call, const Decision& decision);

// This is the part of perform_now() for a reduction by the program's function.
int run_user_reduction(Entry& entry, const Call& call, const Decision& decision);

}  // namespace sumac
