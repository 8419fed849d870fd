// SPDX-License-Identifier: BSD-3-Clause
// How the two contenders are timed.
//
// They take turns in one process: a round measures a block of calls of the one, then of the other,
// and the order changes from round to round, so that what drifts (frequency, neighbours) hits both.
// Before each timed call, all ranks write into the data to be sent, as a program does between two
// calls: one word of each cache line, else the peers would find unmodified lines in their caches
// and large messages would look faster than they are. Then comes the same bare MPI_Barrier for both
// (what the program's own call reaches, hence Sumac's, whose ranks leave closer together), and then
// the call alone is timed, on every rank, less the cost of reading the clock.
#pragma once

#include <vector>

#include "collectives.h"
#include "options.h"
#include "stats.h"
#include "world.h"

namespace sumac::bench {

// Collective. Warms up and times `contenders`; the samples of all ranks, in their order, are
// returned on rank 0, and nothing on the other ranks.
std::vector<Samples> measure(const std::vector<Functions>& contenders, const Case& test,
                             const Options& options, const Buffers& buffers, const World& world);

}  // namespace sumac::bench
