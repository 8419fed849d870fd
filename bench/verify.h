// SPDX-License-Identifier: BSD-3-Clause
// Whether a contender's results are right.
#pragma once

#include "collectives.h"
#include "world.h"

namespace sumac::bench {

// Collective. Makes the call several times in a row with known data and returns, on all ranks, how
// many elements were wrong over all ranks: results that are not the serial reduction (or the root's
// data), send buffers that changed, ranks whose result of a rounding sum has not the bits of rank
// 0's. For a barrier: how many ranks left one before the last had entered.
long count_wrong(const Functions& functions, const Case& test, const Buffers& buffers,
                 const World& world);

}  // namespace sumac::bench
