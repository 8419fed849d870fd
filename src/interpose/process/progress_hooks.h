// SPDX-License-Identifier: BSD-3-Clause
// These hooks advance operations under way while the program is in the MPI, or computes.
#pragma once

#include "interpose/stub/stub.h"
#include "progress/engine.h"

namespace sumac {

// Finds the functions that tell this MPI to call Sumac back.
void find_progress_hooks(const sumac_stub& stub);

// Returns true if messages under way go on while this process is in any call of the MPI's: the MPI
// calls back, or a thread of Sumac's may call the MPI.
bool can_progress_messages();

// Returns true at MPI_THREAD_MULTIPLE.
bool threads_may_call_mpi();

// Must be called once anything is under way, and before MPI is finalised.
void start_progress();
void stop_progress();

}  // namespace sumac
