// SPDX-License-Identifier: BSD-3-Clause
// What a rank does while its collective is under way: the dummy computation of the overlap.
#pragma once

#include <cstdint>

namespace sumac::bench {

// busy: computes on its core. idle: leaves the core to others, as a rank does whose accelerator
// computes, and is back at the end, late by what the operating system takes to wake it.
enum class Compute { busy, idle };

class Computation {
 public:
  // Calibrates the busy loop, which takes a few milliseconds.
  Computation(Compute mode, std::int64_t ns);

  // Computes; `between` is called between each two of the equal pieces. Busy, the work is fixed,
  // so that time taken from the core makes it longer; idle, the end is, counted from the call.
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
    std::int64_t begin;   // of the idleness
    std::uint64_t value;  // of the computation: each piece needs the one before, to add up
  };
  static std::int64_t now();
  void compute(State& state, int piece, int pieces) const;

  Compute mode_;
  std::int64_t amount_;  // busy: steps; idle: nanoseconds
};

}  // namespace sumac::bench
