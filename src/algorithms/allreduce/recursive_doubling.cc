// SPDX-License-Identifier: BSD-3-Clause
// All-reduce by recursive doubling. In step k a rank exchanges all data with the one at distance
// 2^k and both fold, the lower one's first: the blocks folded are neighbours in rank order. If the
// number of ranks is no power of two, the first ranks begin and end in pairs, and one of each pair
// is idle in between.
//   Steps    log2 p, two more when p is no power of two
//   Bytes    a rank sends n log2 p
//   Wins     small messages, and two ranks at any size
//   Needs    messages, scratch of n bytes
// Source: Thakur, Rabenseifner, Gropp, "Optimization of collective communication operations in
// MPICH", IJHPCA 2005.
#include "algorithms/message_fold.h"

namespace sumac::allreduce {

Task recursive_doubling(Strand& strand, MessageGroup& group, const ReduceArguments& args) {
  const Doubling shape(group.size, group.rank);
  co_await fold_extras(strand, group, args);
  const std::byte* own = shape.has_extra() ? args.output : args.input;
  for (int distance = 1; distance < shape.ranks(); distance *= 2) {
    const int partner = shape.partner(distance);
    group.send(partner, own, args.bytes());
    group.receive(partner, group.scratch, args.bytes());
    co_await strand.until(group.stream->all_received());
    co_await strand.until(group.stream->all_sent());
    const bool first = group.rank < partner;
    fold_two(args, first ? own : group.scratch, first ? group.scratch : own, args.output,
             args.count);
    own = args.output;
  }
  co_await serve_extras(strand, group, args);
}

Traffic recursive_doubling_cost(const GroupCall& call) {
  const Doubling any(call.ranks, 0);
  return traffic_of(call, any.rounds() + any.extra_steps(), [&](int rank, auto send) {
    const Doubling shape(call.ranks, rank);
    if (shape.is_paired()) send(rank, shape.pair(), call.bytes);
    for (int d = 1; d < shape.ranks(); d *= 2) send(rank, shape.partner(d), call.bytes);
  });
}

}  // namespace sumac::allreduce
