// SPDX-License-Identifier: BSD-3-Clause
// All-reduce in rank order: each rank gets its part of all ranks' data, folds it from the first
// rank's to the last's, and sends it to all others.
//   Steps    1 a piece and 1, of p-1 messages each
//   Bytes    a rank sends 2n(p-1)/p, as around a ring
//   Wins     only where bits may not depend on the placement of the ranks (SUMAC_REPRODUCIBLE)
//   Needs    messages, scratch that holds a piece of each rank's part
#include "algorithms/rank_order.h"

namespace sumac::allreduce {
namespace {

Parts parts_of(std::size_t bytes, int ranks) { return {bytes, ranks}; }

}  // namespace

Task ordered_parts(Strand& strand, MessageGroup& group, const ReduceArguments& args) {
  const Parts parts = parts_of(args.bytes(), group.size);
  ReduceScatterArguments scattered{args, parts};
  scattered.output = args.output + parts[group.rank].offset;
  co_await reduce_scatter::ordered_parts(strand, group, scattered);
  const auto give = [&](int rank) { group.send(rank, scattered.output, parts[group.rank].bytes); };
  const auto take = [&](int rank) {
    group.receive(rank, args.output + parts[rank].offset, parts[rank].bytes);
  };
  co_await exchange_with_all(strand, group, give, take);
}

Traffic ordered_parts_cost(const GroupCall& call) {
  const Parts parts = parts_of(call.bytes, call.ranks);
  return traffic_of(call, RankRows::pieces_of(call, parts.largest()) + 1, [&](int rank, auto send) {
    for (int to = 0; to < call.ranks; ++to) {
      if (to != rank) send(rank, to, parts[to].bytes + parts[rank].bytes);
    }
  });
}

}  // namespace sumac::allreduce
