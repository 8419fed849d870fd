// SPDX-License-Identifier: BSD-3-Clause
// MPI_COMM_WORLD: from when to when it may be used, and how its job is ended.
#pragma once

#include "interpose/mpi/constants.h"

namespace sumac {

// True from MPI_Init on. A program may have sessions alone, and no world.
bool world_exists();
// True until the beginning of MPI_Finalize. At other times nothing may be under way: the end of a
// session is not seen.
bool world_is_up();
void note_world(bool exists);
void note_world_ends();

// Ends the job, after a line that says why. Waits a moment first, since launchers lose output that
// they have not passed on when a rank aborts.
void end_job(MpiComm comm);

}  // namespace sumac
