// SPDX-License-Identifier: BSD-3-Clause
// Contenders take turns in one process: a round measures a block of calls of each, in an order that
// changes from round to round. So drifting conditions (frequency, other jobs) affect all equally. A
// round in which the time of a line there and back changed is dropped and measured again.
#pragma once

#include <functional>
#include <vector>

#include "options.h"
#include "stats.h"
#include "world.h"

namespace sumac::bench {

// Collective. Makes this many timed calls, and writes the time of each in microseconds.
using Block = std::function<void(int calls, float* us)>;

// Collective. Warms up and times the blocks. Rank 0 gets the samples of all ranks, in the order of
// the blocks; other ranks get none.
std::vector<Samples> in_rounds(const std::vector<Block>& blocks, const Options& options,
                               const World& world);

}  // namespace sumac::bench
