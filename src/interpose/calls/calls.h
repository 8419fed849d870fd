// SPDX-License-Identifier: BSD-3-Clause
// What the files of this folder share: how a communicator's work is run, and the functions of the
// MPI's that they stand before.
#pragma once

#include "interpose/mpi/constants.h"
#include "interpose/process/communicator.h"
#include "interpose/stub/stub.h"

namespace sumac {

// sumac_op_create() and what frees operations (user_operations.cc); MPI_Pack and MPI_Unpack
// (pack.cc).
void redirect_operations(const sumac_stub& stub);
void redirect_packing(const sumac_stub& stub);

// Runs a call that is described. The communicator's state is `together`. `direct`: what is tried
// first; how that ended is in the communicator's work.
void run(Communicator& communicator, const ChosenCall& call, const DirectTry& direct = {});

// True when `own` is true on all ranks of a communicator whose state is `together`. Waits for all
// of them.
bool agree(Communicator& communicator, bool own);

}  // namespace sumac
