// SPDX-License-Identifier: BSD-3-Clause
// All ranks of a group are in one process and one thread, with a scheduler that may stop a rank at
// every condition it waits for. Each rank runs a program: operations one after another, with no
// synchronisation but what the algorithms do.
#pragma once

#include <functional>
#include <memory>
#include <random>
#include <vector>

#include "algorithms/functions.h"
#include "testing/one_process.h"

namespace sumac::testing {

struct Rank;

// A step is one operation of a rank's program, and what is checked the moment the rank returns from
// it.
struct WorldStep {
  std::function<Task(Rank&)> start;
  std::function<void(Rank&)> at_end = [](Rank&) {};
};

struct Rank {
  ShmGroup group;
  Strand strand;
  std::vector<std::byte> scratch = std::vector<std::byte>(8 << 10);
  std::vector<WorldStep> program;
  std::size_t next = 0;
  unsigned looks = 0;
  LocalPeerMemory memory;

  // These are the arguments of the operation going on.
  CallArguments args;
  Refusals refusals;
  SingleCopy peers{&memory, scratch.data(), scratch.size(), &refusals};
  DirectTry direct;

  bool ended() const { return next == program.size() && strand.idle(); }
  // Runs to the next condition. Returns false if nothing could be done.
  bool step() {
    if (strand.idle()) {
      if (next == program.size()) return false;
      refusals.forget();
      strand.start(program[next++].start(*this));
      return true;
    }
    // The rank sometimes has nothing to do but wait.
    if (!strand.progress(++looks % 5 == 0)) return false;
    if (strand.idle()) program[next - 1].at_end(*this);
    return true;
  }
};

class World {
 public:
  World(int ranks, std::size_t ring, std::size_t slot_bytes, Control control)
      : block_(ranks, ring, slot_bytes, 1, control) {
    for (int r = 0; r < ranks; ++r) {
      ranks_.push_back(std::make_unique<Rank>());
      ranks_.back()->group = block_.group(r);
      ranks_.back()->strand.preempt_at_every_wait(true);
    }
  }

  Rank& operator[](int rank) { return *ranks_[static_cast<std::size_t>(rank)]; }
  int size() const { return static_cast<int>(ranks_.size()); }

  // Runs all programs. Prefers some ranks for a while, then others, so that some run far ahead.
  // Returns false if all ranks wait for one another.
  bool run(std::mt19937& random) {
    int patience = 0;
    unsigned favoured = random();
    while (true) {
      if (random() % 64 == 0) favoured = random();
      const int r = static_cast<int>(random() % static_cast<unsigned>(size()));
      const bool held_back = ((favoured >> (r % 32)) & 1) && random() % 16 != 0;
      if (!held_back && (*this)[r].step()) patience = 0;
      if (++patience > 200 * size() + 1000 && !any_step()) break;
    }
    for (auto& rank : ranks_) {
      if (!rank->ended()) return false;
    }
    return true;
  }

 private:
  bool any_step() {
    for (auto& rank : ranks_) {
      if (rank->step()) return true;
    }
    return false;
  }

  TestBlock block_;
  std::vector<std::unique_ptr<Rank>> ranks_;
};

}  // namespace sumac::testing
