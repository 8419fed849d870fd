// SPDX-License-Identifier: BSD-3-Clause
// A communicator of this process alone that the program knows nothing of: for requests, and to ask
// the MPI what it accepts without calling an error handler of the program's.
#pragma once

#include "interpose/mpi/constants.h"

namespace sumac {

// Made at the first call. Returns MPI_COMM_NULL, at all later calls too, where MPI_Init has not
// been called by then (a program of sessions may have no MPI_COMM_SELF) or the MPI could make none.
// The first call must come while no other thread makes communicators: an MPI's threads may take
// turns in this, and one of them may be waiting for another process that waits for this one.
MpiComm self_communicator();

// To be called at finalisation.
void end_self_communicator();

}  // namespace sumac
