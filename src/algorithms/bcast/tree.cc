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
#include "algorithms/slots.h"

namespace sumac::bcast {

Task tree(Strand& strand, ShmGroup& group, const BcastArguments& args) {
  const Chunks chunks = slot_chunks(args.bytes, group.slot_bytes());
  const RunTree tree(group.size(), group.rank(), args.root, args.radix);
  const std::uint64_t first = group.take(chunks.count());
  for (std::size_t c = 0; c < chunks.count(); ++c) {
    const std::uint64_t position = first + c;
    const Part part = chunks[c];
    const Bytes data = args.buffer + part.offset;
    std::byte* const own = group.cell(group.rank(), position, chunks.most());
    if (!tree.is_leaf()) co_await strand.until(group.slot_free(position));
    if (tree.is_root()) {
      put(group, position, data, own, part.bytes);
      group.publish_in(position);
    } else {
      co_await strand.until(group.in(tree.parent(), position));
      const std::byte* const theirs = group.cell(tree.parent(), position, chunks.most());
      group.read(position, part.bytes, [&] {
        if (!tree.is_leaf()) {
          group.store(position, own, theirs, part.bytes);
          group.publish_in(position);
        }
        data.copy_from(theirs, part.bytes);
      });
    }
    group.finish(position);
  }
}

Traffic tree_cost(const GroupCall& call) { return tree_traffic(call, call.root); }

}  // namespace sumac::bcast
