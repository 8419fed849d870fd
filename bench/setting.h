// SPDX-License-Identifier: BSD-3-Clause
// The set-up around each timed call, the same for all contenders.
//
// First, all ranks write to one word of each cache line of the data to be sent, as a program does
// between two calls. Otherwise the peers would find unmodified lines in their caches, and large
// messages would look faster than they are. Then comes an MPI_Barrier, the one that the program's
// own call reaches: with Sumac it is Sumac's, from which ranks return closer together. Then the
// call alone is timed on every rank. The cost of reading the clock is subtracted.
#pragma once

#include <algorithm>
#include <cstdint>

#include "call.h"
#include "timing.h"
#include "world.h"

namespace sumac::bench {

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

}  // namespace sumac::bench
