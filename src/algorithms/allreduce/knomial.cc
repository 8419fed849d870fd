// SPDX-License-Identifier: BSD-3-Clause
// All-reduce up a k-nomial tree and down the same.
//   Steps    2 log_k p, of k-1 messages each
//   Bytes    a rank sends at most n + n(k-1) log_k p
//   Wins     small messages of many ranks where few messages matter more than few steps
//   Needs    messages, scratch as reduce/knomial
#include "algorithms/message_fold.h"

namespace sumac::allreduce {

Task knomial(Strand& strand, MessageGroup& group, const ReduceArguments& args) {
  ReduceArguments up = args;
  up.root = 0;
  if (group.rank != 0) up.output = nullptr;
  co_await reduce::knomial(strand, group, up);
  const BcastArguments down{args.output, args.bytes(), 0, args.radix};
  co_await bcast::knomial(strand, group, down);
}

Traffic knomial_cost(const GroupCall& call) {
  const int depth = Knomial::depth(call.ranks, call.radix);
  return traffic_of(call, 2 * depth, [&](int rank, auto send) {
    const Knomial tree(call.ranks, rank, 0, call.radix);
    if (tree.is_root()) return;
    send(rank, tree.parent(), call.bytes);
    send(tree.parent(), rank, call.bytes);
  });
}

}  // namespace sumac::allreduce
