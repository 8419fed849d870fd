// SPDX-License-Identifier: BSD-3-Clause
// Measures how long the calls of the contenders take.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "call.h"
#include "options.h"
#include "results.h"
#include "stats.h"
#include "timing.h"
#include "world.h"

namespace sumac::bench {

// Contenders take turns in one process: a round measures a block of calls of each, in an order that
// changes from round to round. So drifting conditions (frequency, other jobs) affect all equally. A
// round in which the time of a line there and back changed is dropped and measured again.

// Collective. Makes this many timed calls, and writes the time of each in microseconds.
using Block = std::function<void(int calls, float* us)>;

// Collective. Warms up and times the blocks. Rank 0 gets the samples of all ranks, in the order of
// the blocks; other ranks get none.
std::vector<Samples> in_rounds(const std::vector<Block>& blocks, const Options& options,
                               const World& world);

// The set-up around each timed call, the same for all contenders.
//
// First, all ranks write to one word of each cache line of the data to be sent, as a program does
// between two calls. Otherwise the peers would find unmodified lines in their caches, and large
// messages would look faster than they are. Then comes an MPI_Barrier, the one that the program's
// own call reaches: with Sumac it is Sumac's, from which ranks return closer together. Then the
// call alone is timed on every rank. The cost of reading the clock is subtracted.
struct Setting {
  const Case& test;
  const Buffers& buffers;
  const World& world;
  std::int64_t overhead_ns = timer_overhead_ns();

  // Collective. Writes new data and synchronises all ranks.
  void prepare() const;

  // Returns the time of f() in microseconds.
  template <typename F>
  float time(F f) const {
    const std::int64_t start = now_ns();
    f();
    const std::int64_t taken = now_ns() - start - overhead_ns;
    return static_cast<float>(std::max<std::int64_t>(taken, 0)) / 1000;
  }
};

// How long it takes until the collectives of a communicator are under way, with Sumac its set-up:
// what a program pays once for each communicator that it uses. Collective. To be called before any
// call that is measured. The result is on rank 0.
SetUp set_up(const World& world);

using Calls = std::vector<std::unique_ptr<RepeatedCall>>;

// Collective. Returns times in the order of the calls. Only rank 0 gets samples, see in_rounds().
std::vector<Times> measure(const Calls& calls, const Setting& setting, const Options& options);

}  // namespace sumac::bench
