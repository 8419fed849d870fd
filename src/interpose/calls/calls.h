// SPDX-License-Identifier: BSD-3-Clause
// The files of this folder share this: how a communicator's work is run, and the functions that
// stand before those of the MPI.
#pragma once

#include "interpose/mpi/constants.h"
#include "interpose/process/communicator.h"
#include "interpose/stub/stub.h"

namespace sumac {

// These put Sumac's functions in front: sumac_op_create() and what frees operations
// (user_operations.cc), and MPI_Pack and MPI_Unpack (pack.cc).
void redirect_operations(const sumac_stub& stub);
void redirect_packing(const sumac_stub& stub);

// Runs a call that is described. The communicator's state must be `together`. `direct` is what is
// tried first; the communicator's work tells how that ended.
void run(Communicator& communicator, const ChosenCall& call, const DirectTry& direct = {});

// Returns true if `own` is true on all ranks of a communicator whose state is `together`. Waits for
// all of them.
bool agree(Communicator& communicator, bool own);

}  // namespace sumac
