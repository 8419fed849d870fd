// SPDX-License-Identifier: BSD-3-Clause
// Here a communicator is set up: all ranks have come and run the same build, and they become a
// team.
#pragma once

#include <cstdint>

#include "interpose/process/communicator.h"

namespace sumac {

// Agrees with all ranks of the communicator on how it is served.
//
// They meet first. The exchange there must stay the same in every release: the least of four
// unsigned 64-bit words each, by MPI_Iallreduce with MPI_MIN of MPI_INT64_T, for which their
// highest bits are inverted. They are a build's hash, and the number of the idle team that the rank
// would take up (0 for none), each followed by its complement. Everything else may change with the
// build.
//
// Ranks that have met before on a board (transport/shm/board.h) do all of this there. They run the
// same build. Without calls enough they look for an idle team alone, and go on counting if not all
// have the same one.
//
// A rank that has not heard of all others must not wait for them. It says so by four zeros and goes
// on, while the others wait for its word; then the communicator is not set up in this call.
//
// A rank without Sumac never comes. After SUMAC_HANG_SECONDS this says so; and, if all have come,
// ends the job: every rank has then entered the call that sets the communicator up, and with Sumac
// it would have met the others.
void set_up(Communicator& communicator, Others others);

// Waits until the ranks have met that this one has told that it does not wait: those of one
// communicator, or of all. Must be called before the MPI ends a communicator, or itself.
void end_declined(const Communicator* communicator);

// Returns the group of the communicator's ranks if they have met before, or null on all of them.
// Every rank must ask in the same call, which may wait for the others, and have learnt that the
// ranks must meet.
KnownGroup* known_group_of(Communicator& communicator);

// Decides how a communicator is served if that needs no other rank: it is an inter-communicator, or
// has a single rank. Returns false if the ranks must meet.
bool needs_no_others(Communicator& communicator);

// Returns a hash that is equal on two ranks if their back ends were made from the same sources,
// wherever they were built.
std::uint64_t build_hash();

}  // namespace sumac
