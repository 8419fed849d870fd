// SPDX-License-Identifier: BSD-3-Clause
#include "algorithms/tree.h"

#include "algorithms/slots.h"

namespace sumac {
namespace {

// Folds the results of the runs of `length` ranks. `own` is the result of this rank's run.
void fold_runs(const ShmGroup& group, const ReduceArguments& args, const RunTree& tree,
               std::int64_t length, const TreeChunk& chunk, const std::byte* own, std::byte* to) {
  int runs = 0;
  while (runs < tree.radix() && tree.member(runs, length) >= 0) ++runs;
  group.read(chunk.position, chunk.part.bytes, [&] {
    fold(args, to, runs, chunk.part.bytes / args.element, [&](int j) -> const std::byte* {
      const int at = tree.member(j, length);
      return at == group.rank() ? own : group.cell(at, chunk.position, chunk.most);
    });
  });
}

}  // namespace

Task fold_up(Strand& strand, ShmGroup& group, const ReduceArguments& args, const RunTree& tree,
             TreeChunk chunk) {
  const std::byte* own = args.input + chunk.part.offset;
  std::byte* const to = tree.is_root() ? args.output + chunk.part.offset
                                       : group.cell(group.rank(), chunk.position, chunk.most);
  for (std::int64_t length = 1; length < tree.span(); length *= tree.radix()) {
    for (int j = 0; j < tree.radix(); ++j) {
      const int child = tree.member(j, length);
      if (child < 0) break;
      if (child != group.rank()) co_await strand.until(group.in(child, chunk.position));
    }
    if (chunk.part.bytes > 0) fold_runs(group, args, tree, length, chunk, own, to);
    own = to;
  }
  if (own != to) group.store(chunk.position, to, own, chunk.part.bytes);
  if (!tree.is_root()) group.publish_in(chunk.position);
}

Task pass_down(Strand& strand, ShmGroup& group, const RunTree& tree, TreeChunk chunk, Bytes data,
               Shown shown) {
  const std::uint64_t position = chunk.position;
  const std::size_t bytes = chunk.part.bytes;
  std::byte* const own = group.cell(group.rank(), position, chunk.most);
  const bool results = shown == Shown::results;
  const auto publish = [&] { results ? group.publish_out(position) : group.publish_in(position); };
  if (tree.is_root()) {
    put(group, position, data, own, bytes);
    publish();
    co_return;
  }
  const int parent = tree.parent();
  co_await strand.until(results ? group.out(parent, position) : group.in(parent, position));
  const std::byte* const theirs = group.cell(parent, position, chunk.most);
  group.read(position, bytes, [&] {
    if (!tree.is_leaf()) {
      // The data that the cell had on the way up have been read, or there would be no result.
      group.store(position, own, theirs, bytes);
      publish();
    }
    data.copy_from_peer(theirs, bytes);
  });
}

Traffic tree_traffic(const GroupCall& call, int root) {
  std::uint64_t most = 0;
  for (int rank = 0; rank < call.ranks; ++rank) {
    const RunTree tree(call.ranks, rank, root, call.radix);
    const int ways = tree.children() + !tree.is_root();
    most = std::max(most, static_cast<std::uint64_t>(ways) * call.bytes);
  }
  const auto depth = static_cast<std::uint64_t>(Knomial::depth(call.ranks, call.radix));
  return through_slots(call.ranks, depth + chunks_in_slots(call) - 1, most, call.radix - 1);
}

}  // namespace sumac
