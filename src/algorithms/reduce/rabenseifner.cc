// SPDX-License-Identifier: BSD-3-Clause
// Reduce after Rabenseifner: recursive halving, by which all ranks share the folding, and then a
// binomial tree by which the root gathers the places. Elements are folded in the same tree as by
// allreduce/rabenseifner, whoever is the root: same bits.
//   Steps    2 log2 p, one more when p is no power of two
//   Bytes    a rank sends up to 3n/2, the root receives 2n(p-1)/p
//   Wins     medium and large messages, where folding or a leader's link is what takes the time
//   Needs    messages, scratch of 2n bytes
// Source: Thakur, Rabenseifner, Gropp, "Optimization of collective communication operations in
// MPICH", IJHPCA 2005.
#include "algorithms/halving.h"

namespace sumac::reduce {
namespace {

// Folds an extra rank's data and its pair's, in the order of ranks.
Task fold_pair(Strand& strand, MessageGroup& group, const ReduceArguments& args, int pair,
               std::byte* to) {
  group.receive(pair, group.scratch, args.bytes());
  co_await strand.until(group.stream->all_received());
  const bool first = group.rank < pair;
  fold_two(args, first ? args.input : group.scratch, first ? group.scratch : args.input, to,
           args.count);
}

}  // namespace

Task rabenseifner(Strand& strand, MessageGroup& group, const ReduceArguments& args) {
  const Doubling shape(group.size, group.rank, args.root);
  if (shape.is_extra()) {
    group.send(shape.pair(), args.input, args.bytes());
    co_await strand.until(group.stream->all_sent());
    co_return;
  }
  const Halves halves(shape);
  const Halves of_root(Doubling(group.size, args.root, args.root));
  const EvenPlaces begin_of{args.count, args.element, shape.rounds()};
  const bool is_root = group.rank == args.root;
  std::byte* const result = is_root ? args.output : group.scratch + args.bytes();
  if (shape.has_extra()) co_await fold_pair(strand, group, args, shape.pair(), result);
  const std::byte* own = shape.has_extra() ? result : args.input;
  co_await reduce_halves(strand, group, args, halves, own, result, group.scratch, begin_of);
  co_await gather_halves_at(strand, group, halves, of_root.place(), result, begin_of);
}

Traffic rabenseifner_cost(const GroupCall& call) {
  const Doubling any(call.ranks, 0);
  const Halves of_root(Doubling(call.ranks, call.root, call.root));
  const int steps = 2 * any.rounds() + any.extra_steps() / 2;
  return traffic_of(call, steps, [&](int rank, auto send) {
    const Doubling shape(call.ranks, rank, call.root);
    if (shape.is_extra()) return send(rank, shape.pair(), call.bytes);
    const Halves halves(shape);
    const EvenPlaces begin_of{call.bytes / call.element, call.element, shape.rounds()};
    count_reduced_halves(rank, halves, begin_of, send);
    count_halves_at(rank, halves, of_root.place(), begin_of, send);
  });
}

}  // namespace sumac::reduce
