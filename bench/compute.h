// SPDX-License-Identifier: BSD-3-Clause
// The dummy computation that a rank does while its collective is under way, to measure overlap.
#pragma once

#include <cstdint>

namespace sumac::bench {

// busy: computes on its core. idle: sleeps and leaves its core to others, as a rank does whose
// accelerator computes. It ends late by the time that the operating system takes to wake it.
enum class Compute { busy, idle };

class Computation {
 public:
  // Calibrates the busy loop, which takes a few milliseconds.
  Computation(Compute mode, std::int64_t ns);

  // Computes in equal pieces, and calls `between` between each two of them. When busy, the amount
  // of work is fixed, so that losing the core makes it longer; when idle, the end time is fixed.
  template <typename F>
  void run(int pieces, F between) const {
    State state{mode_ == Compute::idle ? now() : 0, 1};
    for (int piece = 1; piece <= pieces; piece++) {
      compute(state, piece, pieces);
      if (piece < pieces) between();
    }
  }

 private:
  struct State {
    std::int64_t begin;   // of the idle time
    std::uint64_t value;  // of the computation: each piece depends on the one before
  };
  static std::int64_t now();
  void compute(State& state, int piece, int pieces) const;

  Compute mode_;
  std::int64_t amount_;  // busy: steps; idle: nanoseconds
};

}  // namespace sumac::bench
