// SPDX-License-Identifier: BSD-3-Clause
// What the trees through slots share: the way up for one chunk, and what a tree costs.
#pragma once

#include "algorithms/arguments.h"
#include "algorithms/cost.h"
#include "algorithms/peers.h"
#include "strands/task.h"
#include "transport/shm/group.h"

namespace sumac {

// One chunk on its way: its position, its place in the vector, and the size of the largest chunk.
struct TreeChunk {
  std::uint64_t position;
  Part part;
  std::size_t most;
};

// Folds a chunk of the runs that this rank leads, in the order of ranks: at the root to the output,
// elsewhere to this rank's cell, which is free, for its parent.
Task fold_up(Strand& strand, ShmGroup& group, const ReduceArguments& args, const RunTree& tree,
             TreeChunk chunk);

// Counts one way through the tree: its levels one after another, for the first of several chunks,
// and the bytes that the busiest rank reads from others and writes for them.
Traffic tree_traffic(const GroupCall& call, int root);

}  // namespace sumac
