// SPDX-License-Identifier: BSD-3-Clause
// The MPI's requests behind persistent collectives: persistent receives of no bytes from this
// process itself, on communicators of their own. Active and inactive, MPI_Startall and arrays of
// requests are so what they always are.
#pragma once

#include <mpi.h>

namespace sumac {

// A receive that nothing but deliver_carrier() completes: told from others by tag and communicator.
struct Carrier {
  MPI_Comm comm = MPI_COMM_NULL;
  int tag = 0;
};

// A request, inactive. False where the MPI has none to give.
bool make_carrier(MPI_Request& request, Carrier& carrier);
// The request has been freed.
void return_carrier(const Carrier& carrier);

// Ends a receive that has been started.
void deliver_carrier(const Carrier& carrier);

// At finalisation, before end_self_communicator().
void end_carriers();

}  // namespace sumac
