// SPDX-License-Identifier: BSD-3-Clause
// What a choice costs. Nothing on the path of a call uses this.
#pragma once

#include "algorithms/cost.h"
#include "planner/plan.h"

namespace sumac {

// Serving `bytes` once in a group of so many ranks.
Cost cost_of(const Choice& choice, int ranks, std::uint64_t bytes);

// What the ranks send while they serve `bytes` once; empty where they send no messages, or the MPI
// chooses. `root` is the index of the root; all-reduces have none.
std::vector<Message> messages_of(const Choice& choice, int ranks, int root, std::uint64_t bytes);

}  // namespace sumac
