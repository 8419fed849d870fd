// SPDX-License-Identifier: BSD-3-Clause
// What is compared takes turns in one process: a round measures a block of calls of the one, then
// of the other, and the order changes from round to round, so that what drifts (frequency,
// neighbours) hits all alike.
#pragma once

#include <functional>
#include <vector>

#include "options.h"
#include "stats.h"
#include "world.h"

namespace sumac::bench {

// Makes this many timed calls, and writes the microseconds of each. Collective.
using Block = std::function<void(int calls, float* us)>;

// Collective. Warms up and times the blocks; the samples of all ranks, in the blocks' order, are
// returned on rank 0, and none on the other ranks.
std::vector<Samples> in_rounds(const std::vector<Block>& blocks, const Options& options,
                               const World& world);

}  // namespace sumac::bench
