// SPDX-License-Identifier: BSD-3-Clause
// All-reduce after Rabenseifner: recursive halving, then recursive doubling. In step k a rank and
// the one at distance 2^k each give the other half of what they still hold and fold what they keep,
// the lower one's data first; then the halves are gathered in the opposite order. Elements are
// folded in the same tree as by recursive doubling: same bits.
//   Steps    2 log2 p, two more when p is no power of two
//   Bytes    a rank sends 2n(p-1)/p
//   Wins     medium messages, and large ones of two or four ranks
//   Needs    messages, scratch of n bytes
// Source: as recursive_doubling.cc.
#include "algorithms/halving.h"

namespace sumac::allreduce {

Task rabenseifner(Strand& strand, MessageGroup& group, const ReduceArguments& args) {
  const Doubling shape(group.size, group.rank);
  const Halves halves(shape);
  const EvenPlaces begin_of{args.count, args.element, shape.rounds()};
  co_await fold_extras(strand, group, args);
  const std::byte* own = shape.has_extra() ? args.output : args.input;
  co_await reduce_halves(strand, group, args, halves, own, args.output, group.scratch, begin_of);
  co_await gather_halves(strand, group, halves, args.output, begin_of);
  co_await serve_extras(strand, group, args);
}

Traffic rabenseifner_cost(const GroupCall& call) {
  const Doubling any(call.ranks, 0);
  return traffic_of(call, 2 * any.rounds() + any.extra_steps(), [&](int rank, auto send) {
    const Doubling shape(call.ranks, rank);
    const Halves halves(shape);
    const EvenPlaces begin_of{call.bytes / call.element, call.element, shape.rounds()};
    if (shape.is_paired()) send(rank, shape.pair(), call.bytes);
    count_reduced_halves(rank, halves, begin_of, send);
    count_gathered_halves(rank, halves, begin_of, send);
  });
}

}  // namespace sumac::allreduce
