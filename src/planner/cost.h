// SPDX-License-Identifier: BSD-3-Clause
// What algorithms cost, counted and not measured: `sumac plan` shows it. Nothing on the path of a
// call uses this.
#pragma once

#include <cstdint>
#include <vector>

#include "planner/plan.h"

namespace sumac {

struct Cost {
  bool known = false;  // what the MPI does, and what needs a hierarchy, is not
  // Waits for another rank, one after another: a message, or a flag in shared memory, each. Chunks
  // overlap: a chunk more is a step more. The children of a node of a tree count as one.
  std::uint64_t steps = 0;
  // Of the busiest rank: sent, or in shared memory written for others and read from them.
  std::uint64_t bytes = 0;
};

// Serving `bytes` once in a group of so many ranks.
Cost cost_of(const Choice& choice, int ranks, std::uint64_t bytes);

// All that one rank sends another, by index in the group.
struct Message {
  int from = 0, to = 0;
  std::uint64_t bytes = 0;
};

// What the ranks send while they serve `bytes` once; empty where they send no messages, or the MPI
// chooses. `root` is the index of the root; all-reduces have none, but for their trees.
std::vector<Message> messages_of(const Choice& choice, int ranks, int root, std::uint64_t bytes);

}  // namespace sumac
