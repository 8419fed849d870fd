// SPDX-License-Identifier: BSD-3-Clause
// Who looks at what is under way while the program is in the MPI, or computes.
#pragma once

#include "interpose/stub/stub.h"
#include "progress/helper.h"

namespace sumac {

// Finds what this MPI has to be called back by.
void find_progress_hooks(const sumac_stub& stub);

// Whether messages under way go on while this process is in any call of the MPI's: it calls back,
// or a thread of ours may call it.
bool can_progress_messages();

// MPI_THREAD_MULTIPLE.
bool threads_may_call_mpi();

// Once anything is under way; and before MPI is finalised.
void start_progress();
void stop_progress();

}  // namespace sumac
