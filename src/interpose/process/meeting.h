// SPDX-License-Identifier: BSD-3-Clause
// Setting a communicator up: all ranks have come and run the same build; they become a team.
#pragma once

#include "interpose/process/communicator.h"

namespace sumac {

// Agrees with all ranks of the communicator on how it is served.
//
// They meet first. What is exchanged then must stay the same in every release: two unsigned 64-bit
// words, a build's hash and its complement, by MPI_Iallreduce with MPI_MIN. All else may change
// with the build.
//
// A rank without Sumac never comes. After SUMAC_HANG_SECONDS this says so; and, where
// `all_entered`, ends the job: every rank has then entered the call that sets the communicator up,
// and with Sumac it would have come.
void set_up(Communicator& communicator, bool all_entered);

// Decides how a communicator is served where that needs no other rank: an inter-communicator, or
// one of a single rank. Returns false where the ranks must meet.
bool needs_no_others(Communicator& communicator);

}  // namespace sumac
