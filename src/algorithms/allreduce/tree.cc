// SPDX-License-Identifier: BSD-3-Clause
// All-reduce up a tree of neighbouring ranks to rank 0, and the result down the same tree, from
// slot to slot. While a chunk goes down, the next ones go up.
//   Steps    2 log_k p a chunk, pipelined
//   Bytes    a rank reads at most n(k-1) log_k p + n and writes 2n
//   Wins     many ranks: no rank reads more than a handful of lines
//   Needs    slots. Partial results are folded: the same bits on all ranks, other ones than flat
// Source: as reduce/tree.
#include "algorithms/tree.h"
#include "algorithms/functions.h"

namespace sumac::allreduce {

Task tree(Strand& strand, ShmGroup& group, const ReduceArguments& args) {
  const Chunks chunks = slot_chunks(args.bytes(), group.slot_bytes(), args.unit);
  const std::size_t behind = std::min(chunks.count() - 1, group.ring() / 2);
  const RunTree tree(group.size(), group.rank(), 0, args.radix);
  const std::uint64_t first = group.take(chunks.count(), {.room = chunks.most(), .results = true});
  for (std::size_t step = 0; step < chunks.count() + behind; ++step) {
    if (step < chunks.count()) {
      co_await strand.until(group.slot_free(first + step));
      co_await fold_up(strand, group, args, tree, {first + step, chunks[step], chunks.most()});
    }
    if (step >= behind) {
      const std::size_t c = step - behind;
      co_await pass_down(strand, group, tree, {first + c, chunks[c], chunks.most()},
                         args.output + chunks[c].offset, Shown::results);
      group.finish(first + c);
    }
  }
}

Traffic tree_cost(const GroupCall& call) {
  Traffic traffic = tree_traffic(call, 0);
  const auto depth = static_cast<std::uint64_t>(Knomial::depth(call.ranks, call.radix));
  const Traffic down = through_slots(call.ranks, depth, 2 * call.bytes, 1);
  traffic.cost.steps += down.cost.steps;
  traffic.cost.bytes += down.cost.bytes;
  traffic.cost.work.add(down.cost.work);
  return traffic;
}

}  // namespace sumac::allreduce
