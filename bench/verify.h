// SPDX-License-Identifier: BSD-3-Clause
// Whether a contender's results are right.
#pragma once

#include "call.h"
#include "world.h"

namespace sumac::bench {

// Collective. Makes `call`, which is `test`, several times in a row with known data and returns, on
// all ranks, how many elements were wrong over all ranks: results that are not the serial reduction
// (or the root's data), send buffers that changed, ranks whose result of a rounding sum has not the
// bits of rank 0's. For a barrier: how many ranks left one before the last had entered. What is
// started is completed by MPI_Wait, and once by MPI_Test.
long count_wrong(Call& call, const Case& test, const Buffers& buffers, const World& world);

}  // namespace sumac::bench
