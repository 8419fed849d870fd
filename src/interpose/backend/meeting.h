// SPDX-License-Identifier: BSD-3-Clause
// The first step of setting a communicator up: all ranks have come, and run the same build.
#pragma once

#include "interpose/backend/communicator.h"

namespace sumac {

// False where the ranks run different builds. What is exchanged must stay the same in every
// release: two unsigned 64-bit words, a build's hash and its complement, by MPI_Iallreduce with
// MPI_MIN. All else may change with the build.
//
// A rank without Sumac never comes. After SUMAC_HANG_SECONDS this says so; and, where
// `all_entered`, ends the job: every rank has then entered the call that sets the communicator up,
// and with Sumac it would have come.
bool meet(Communicator& c, bool all_entered);

}  // namespace sumac
