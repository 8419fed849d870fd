// SPDX-License-Identifier: BSD-3-Clause
// All-to-all in place. Every rank copies its blocks out of the others' inputs, beginning with the
// rank before it, so that no two read from one at the same time.
//   Steps    3: addresses out, edges out, all blocks copied
//   Bytes    a rank reads p-1 blocks
//   Wins     large messages, wherever buffers are used again and again
//   Needs    inputs of all ranks mapped by all
#include "algorithms/direct.h"
#include "algorithms/functions.h"
#include "algorithms/rows.h"

namespace sumac::alltoall {

Task direct(Strand& strand, ShmGroup& group, const AlltoallArguments& args, const SingleCopy& peers,
            const Direct& direct) {
  const std::uint64_t position = direct.position;
  const int own = group.rank();
  const std::size_t bytes = args.sent.bytes;
  const auto input_of = [&](int rank) { return buffers_of(group, rank, position).input; };
  const auto inside_of_input = [&](int rank) {
    return inside_of(input_of(rank), bytes, direct.page);
  };
  Edges(bytes, inside_of_input(own)).show(group, position, args.input);
  args.keep_own(own);
  const Part block = args.sent[own];  // it is at the same place in all ranks' inputs
  for (int distance = 1; distance < group.size(); ++distance) {
    const int from = rank_before(own, distance, group.size());
    const Part inside = inside_of_input(from), seen = common(block, inside);
    const Bytes to = args.output + args.received[from].offset;
    if (seen.bytes > 0) {
      fetch_into(peers, from, input_of(from) + seen.offset, to + (seen.offset - block.offset),
                 seen.bytes);
    }
    if (seen.bytes == block.bytes) continue;
    co_await strand.until(group.out(from, position));
    Edges(bytes, inside).take(group, position, from, block, to);
  }
  co_await end_fetching(strand, group, position, peers);
}

Traffic direct_cost(const GroupCall& call) {
  return in_place(call.ranks, others_parts(call), call.ranks - 1);
}

}  // namespace sumac::alltoall
