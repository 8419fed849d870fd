// SPDX-License-Identifier: BSD-3-Clause
// The functions the back end puts in front of the MPI's own, and what they share.
#pragma once

#include <mpi.h>

#include "interpose/process/communicator.h"
#include "interpose/process/process.h"
#include "interpose/stub/stub.h"

namespace sumac {

void redirect_collectives(const sumac_stub& stub);
void redirect_life_cycle(const sumac_stub& stub);
void redirect_operations(const sumac_stub& stub);
void redirect_info(const sumac_stub& stub);
void redirect_shared_windows(const sumac_stub& stub);
void redirect_packing(const sumac_stub& stub);

// Runs what `work` of a communicator describes. The communicator's state is `together`.
void run(Communicator& communicator);

// True when `own` is true on all ranks of a communicator whose state is `together`. Waits for all
// of them.
bool agree(Communicator& communicator, bool own);

}  // namespace sumac
