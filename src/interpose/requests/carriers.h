// SPDX-License-Identifier: BSD-3-Clause
// Behind persistent collectives, the MPI has requests of these: persistent receives of no bytes
// from this process itself, on communicators of their own. So MPI_Startall, arrays of requests, and
// the active and inactive states work as always.
#pragma once

#include "interpose/mpi/constants.h"

namespace sumac {

// This is a receive that only deliver_carrier() completes, identified by tag and communicator.
struct Carrier {
  MpiComm comm = kMpi.comm_null;
  int tag = 0;
};

// Makes an inactive request. Returns false if the MPI cannot make one.
bool make_carrier(MpiRequest& request, Carrier& carrier);
// Must be called when the request has been freed.
void return_carrier(const Carrier& carrier);

// Completes a receive that has been started.
void deliver_carrier(const Carrier& carrier);

// Must be called at finalisation, before end_self_communicator().
void end_carriers();

}  // namespace sumac
