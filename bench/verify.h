// SPDX-License-Identifier: BSD-3-Clause
// Checks a contender's results.
#pragma once

#include "call.h"
#include "world.h"

namespace sumac::bench {

// Collective. Makes `call`, described by `test`, several times in a row with known data. Returns on
// all ranks the number of wrong elements over all ranks: results that differ from the serial
// reduction (or from the root's data), send buffers that changed, ranks whose result of a sum with
// rounding has not the bits of rank 0's. For a barrier, returns the number of ranks that left one
// before the last had entered. Operations that were started are completed by MPI_Wait, and once by
// MPI_Test.
long count_wrong(RepeatedCall& call, const Case& test, const Buffers& buffers, const World& world);

}  // namespace sumac::bench
