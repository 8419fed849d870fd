// SPDX-License-Identifier: BSD-3-Clause
// What stands around each timed call, the same for all contenders.
//
// Before it, all ranks write into the data to be sent, as a program does between two calls: one
// word of each cache line, else the peers would find unmodified lines in their caches and large
// messages would look faster than they are. Then comes the same bare MPI_Barrier (what the
// program's own call reaches, hence Sumac's, whose ranks leave closer together). Then the call
// alone is timed, on every rank, less the cost of reading the clock.
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

  // Collective. New data, and all ranks together.
  void prepare() const;

  // The microseconds that f() takes.
  template <typename F>
  float time(F f) const {
    const std::int64_t start = now_ns();
    f();
    const std::int64_t taken = now_ns() - start - overhead_ns;
    return static_cast<float>(std::max<std::int64_t>(taken, 0)) / 1000;
  }
};

}  // namespace sumac::bench
