// SPDX-License-Identifier: BSD-3-Clause
// The MPI's requests behind persistent collectives: persistent receives of no bytes from this
// process itself, on a communicator of its own. Active and inactive, MPI_Startall and arrays of
// requests are so what they always are.
#pragma once

#include <mpi.h>

namespace sumac {

// A request, inactive, and the tag that tells it from others. False where the MPI has none to give.
bool make_carrier(MPI_Request& request, int& tag);
// The request has been freed.
void return_carrier(int tag);

// Ends a receive that has been started.
void deliver_carrier(int tag);

}  // namespace sumac
