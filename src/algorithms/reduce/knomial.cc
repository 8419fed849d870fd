// SPDX-License-Identifier: BSD-3-Clause
// Reduce up a k-nomial tree. A rank folds its children's blocks, nearest first, after its own, and
// sends the result to its parent: blocks are neighbours, counted from the root.
//   Steps    log_k p, of up to k-1 messages each
//   Bytes    a rank sends n once
//   Wins     small and medium messages
//   Needs    messages, scratch of 3n bytes (the result so far, two children's data)
#include <cstring>

#include "algorithms/message_fold.h"

namespace sumac::reduce {

Task knomial(Strand& strand, MessageGroup& group, const ReduceArguments& args) {
  const Knomial tree(group.size, group.rank, args.root, args.radix);
  std::byte* result = tree.is_root() ? args.output : group.scratch;
  std::byte* const incoming = group.scratch + args.bytes();
  const std::size_t room = (group.scratch_bytes - args.bytes()) / args.bytes();
  const std::byte* own = args.input;
  for (int distance = 1; distance < tree.span() && distance < group.size;
       distance *= tree.radix()) {
    for (int j = 1; j < tree.radix() && tree.child(j, distance) >= 0;) {
      const std::byte* sources[kMaxSources] = {own};
      int taken = 1;
      for (; taken < kMaxSources && static_cast<std::size_t>(taken) <= room && j < tree.radix();
           ++j, ++taken) {
        const int child = tree.child(j, distance);
        if (child < 0) break;
        std::byte* to = incoming + static_cast<std::size_t>(taken - 1) * args.bytes();
        group.receive(child, to, args.bytes());
        sources[taken] = to;
      }
      co_await strand.until(group.stream->all_received());
      fold_all(args, sources, taken, result, args.count);
      own = result;
    }
  }
  if (!tree.is_root()) {
    group.send(tree.parent(), own, args.bytes());
    co_await strand.until(group.stream->all_sent());
  } else if (own != args.output) {
    std::memcpy(args.output, own, args.bytes());
  }
}

Traffic knomial_cost(const GroupCall& call) {
  return traffic_of(call, Knomial::depth(call.ranks, call.radix), [&](int rank, auto send) {
    const Knomial tree(call.ranks, rank, call.root, call.radix);
    if (!tree.is_root()) send(rank, tree.parent(), call.bytes);
  });
}

}  // namespace sumac::reduce
