// SPDX-License-Identifier: BSD-3-Clause
// What a waiting rank does besides waiting. Callbacks of WaitPolicy; `context` is a Communicator.
#pragma once

namespace sumac {

struct Communicator;

// Lets the MPI make progress: a peer's rendezvous send to this rank may be what all wait for. And
// with it all else that is under way.
void drive_mpi(void* context);
// The MPI's progress alone.
void probe_mpi(const Communicator& communicator);

// Says once, after SUMAC_HANG_SECONDS, which ranks have not arrived; ends the job when one of them
// no longer exists, as nothing else may.
void report_late(void* context, double seconds);

// This rank and that one are in different calls on the communicator, as both have announced: ends
// the job with a line that says so.
void end_for_different_calls(const Communicator& communicator, int rank);

// As report_late(), for every communicator on which something is under way; the context is not
// used.
void report_late_anywhere(void*, double seconds);

}  // namespace sumac
