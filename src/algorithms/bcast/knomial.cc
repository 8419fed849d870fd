// SPDX-License-Identifier: BSD-3-Clause
// Broadcast down a k-nomial tree, the farthest children first.
//   Steps    log_k p, of up to k-1 messages each
//   Bytes    the root sends n(k-1) log_k p, all ranks together n(p-1)
//   Wins     small and medium messages
//   Needs    messages
#include "algorithms/message_fold.h"

namespace sumac::bcast {

Task knomial(Strand& strand, MessageGroup& group, const BcastArguments& args) {
  const Knomial tree(group.size, group.rank, args.root, args.radix);
  std::byte* const data = args.buffer.contiguous_or(group.scratch);
  if (tree.is_root()) {
    args.buffer.packed(data, args.bytes);
  } else {
    group.receive(tree.parent(), data, args.bytes);
    co_await strand.until(group.stream->all_received());
  }
  for (int distance = tree.span() / tree.radix(); distance >= 1; distance /= tree.radix()) {
    for (int j = 1; j < tree.radix(); ++j) {
      const int child = tree.child(j, distance);
      if (child >= 0) group.send(child, data, args.bytes);
    }
  }
  if (!tree.is_root()) args.buffer.take(data, args.bytes);
  co_await strand.until(group.stream->all_sent());
}

Traffic knomial_cost(const GroupCall& call) {
  return traffic_of(call, Knomial::depth(call.ranks, call.radix), [&](int rank, auto send) {
    const Knomial tree(call.ranks, rank, call.root, call.radix);
    if (!tree.is_root()) send(tree.parent(), rank, call.bytes);
  });
}

}  // namespace sumac::bcast
