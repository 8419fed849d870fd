// SPDX-License-Identifier: BSD-3-Clause
// These functions say when MPI_COMM_WORLD may be used, end its job, and give this process a
// communicator of its own.
#pragma once

#include "interpose/mpi/constants.h"

namespace sumac {

// Returns true from MPI_Init on. A program may have sessions alone, and no world.
bool world_exists();
// Returns true from MPI_Init until the beginning of MPI_Finalize. At other times nothing may be
// under way, because Sumac does not see the end of a session.
bool world_is_up();
void note_world(bool exists);
void note_world_ends();

// Ends the job, after a line that says why. Waits a moment first, since launchers lose output that
// they have not passed on when a rank aborts.
void end_job(MpiComm comm);

// Returns a communicator of this process alone that the program knows nothing of. Sumac uses it for
// requests, and to ask the MPI what it accepts without calling an error handler of the program's.
// Makes the communicator at the first call. Returns MPI_COMM_NULL, at all later calls too, if
// MPI_Init has not been called by then (a program of sessions may have no MPI_COMM_SELF) or the MPI
// could make none. The first call must come while no other thread makes communicators: an MPI's
// threads may take turns in this, and one of them may be waiting for another process that waits for
// this one.
MpiComm self_communicator();

// Must be called at finalisation.
void end_self_communicator();

// Makes calls on the communicator return their errors to the caller, as MPI_ERRORS_RETURN does.
void return_errors(MpiComm comm);

}  // namespace sumac
