// SPDX-License-Identifier: BSD-3-Clause
// The trees through slots share the ways up and down for one chunk, and the cost of a tree.
#pragma once

#include "algorithms/arguments.h"
#include "algorithms/cost.h"
#include "algorithms/peers.h"
#include "strands/task.h"
#include "transport/shm/group.h"

namespace sumac {

// One chunk on its way has a position, a place in the vector, and the size of the largest chunk.
struct TreeChunk {
  std::uint64_t position;
  Part part;
  std::size_t most;
};

// Folds a chunk of the runs that this rank leads, in the order of ranks. At the root the result
// goes to the output, elsewhere to this rank's cell, which is free, for its parent.
Task fold_up(Strand& strand, ShmGroup& group, const ReduceArguments& args, const RunTree& tree,
             TreeChunk chunk);

// Takes a chunk from the parent's cell to `data`, and shows it to the children in this rank's cell,
// which is free. The root already has the data, and only shows them. `shown` says which flags
// announce them: those of results, whose cells had data on the way up, or those of inputs.
enum class Shown : std::uint8_t { inputs, results };
Task pass_down(Strand& strand, ShmGroup& group, const RunTree& tree, TreeChunk chunk, Bytes data,
               Shown shown);

// Counts one way through the tree: its levels one after another, for the first of several chunks,
// and the bytes that the busiest rank reads from others and writes for them.
Traffic tree_traffic(const GroupCall& call, int root);

}  // namespace sumac
