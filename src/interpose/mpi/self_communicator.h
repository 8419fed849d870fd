// SPDX-License-Identifier: BSD-3-Clause
// This is a communicator of this process alone that the program knows nothing of. Sumac uses it for
// requests, and to ask the MPI what it accepts without calling an error handler of the program's.
#pragma once

#include "interpose/mpi/constants.h"

namespace sumac {

// Makes the communicator at the first call. Returns MPI_COMM_NULL, at all later calls too, if
// MPI_Init has not been called by then (a program of sessions may have no MPI_COMM_SELF) or the MPI
// could make none. The first call must come while no other thread makes communicators: an MPI's
// threads may take turns in this, and one of them may be waiting for another process that waits for
// this one.
MpiComm self_communicator();

// Must be called at finalisation.
void end_self_communicator();

}  // namespace sumac
