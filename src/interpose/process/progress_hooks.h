// SPDX-License-Identifier: BSD-3-Clause
// What advances operations under way while the program is in the MPI, or computes.
#pragma once

#include "interpose/stub/stub.h"
#include "progress/helper.h"

namespace sumac {

// Finds the functions by which this MPI can be told to call Sumac back.
void find_progress_hooks(const sumac_stub& stub);

// True when messages under way go on while this process is in any call of the MPI's: the MPI calls
// back, or a thread of Sumac's may call the MPI.
bool can_progress_messages();

// True at MPI_THREAD_MULTIPLE.
bool threads_may_call_mpi();

// To be called once anything is under way, and before MPI is finalised.
void start_progress();
void stop_progress();

}  // namespace sumac
