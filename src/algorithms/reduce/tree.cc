// SPDX-License-Identifier: BSD-3-Clause
// Reduce up a tree of neighbouring ranks. The leader of a run of ranks folds the results of the
// runs within it, in its own slot, which the leader of the next longer run reads.
//   Steps    log_k p a chunk, pipelined as deep as the ring; non-roots do not wait for the root
//   Bytes    a rank reads at most n(k-1) log_k p and writes n; no line is read by two ranks
//   Wins     many ranks: no rank reads more than a handful of lines
//   Needs    slots. Partial results are folded: the same bits for any root, other ones than flat
// Source: Kandalla et al., "Designing optimized MPI broadcast and allreduce for many integrated
// core (MIC) InfiniBand clusters", HOTI 2013: trees of any degree over shared memory.
#include "algorithms/tree.h"
#include "algorithms/functions.h"

namespace sumac::reduce {

Task tree(Strand& strand, ShmGroup& group, const ReduceArguments& args) {
  const Chunks chunks = slot_chunks(args.bytes(), group.slot_bytes(), args.unit);
  const RunTree tree(group.size(), group.rank(), args.root, args.radix);
  const std::uint64_t first = group.take(chunks.count(), {.room = chunks.most()});
  for (std::size_t c = 0; c < chunks.count(); ++c) {
    if (!tree.is_root()) co_await strand.until(group.slot_free(first + c));
    co_await fold_up(strand, group, args, tree, {first + c, chunks[c], chunks.most()});
    group.finish(first + c);
  }
}

Traffic tree_cost(const GroupCall& call) { return tree_traffic(call, call.root); }

}  // namespace sumac::reduce
