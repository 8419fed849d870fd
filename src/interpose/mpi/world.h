// SPDX-License-Identifier: BSD-3-Clause
// These functions say when MPI_COMM_WORLD may be used, and end its job.
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

}  // namespace sumac
