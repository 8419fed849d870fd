// SPDX-License-Identifier: BSD-3-Clause
// Broadcast down a tree of neighbouring ranks. The leader of a run of ranks copies the data into
// its own slot, from which the leaders of the runs within it take them.
//   Steps    log_k p a chunk, pipelined as deep as the ring; the root does not wait for the others
//   Bytes    a rank reads n, and writes n for at most (k-1) log_k p ranks
//   Wins     many ranks: no line is read by more than a handful of ranks, one after another
//   Needs    slots
// Source: as reduce/tree.
#include "algorithms/tree.h"
#include "algorithms/functions.h"

namespace sumac::bcast {

Task tree(Strand& strand, ShmGroup& group, const BcastArguments& args) {
  const Chunks chunks = slot_chunks(args.bytes, group.slot_bytes());
  const RunTree tree(group.size(), group.rank(), args.root, args.radix);
  const std::uint64_t first = group.take(chunks.count(), {.room = chunks.most()});
  for (std::size_t c = 0; c < chunks.count(); ++c) {
    if (!tree.is_leaf()) co_await strand.until(group.slot_free(first + c));
    co_await pass_down(strand, group, tree, {first + c, chunks[c], chunks.most()},
                       args.buffer + chunks[c].offset, Shown::inputs);
    group.finish(first + c);
  }
}

Traffic tree_cost(const GroupCall& call) { return tree_traffic(call, call.root); }

}  // namespace sumac::bcast
