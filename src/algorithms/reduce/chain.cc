// SPDX-License-Identifier: BSD-3-Clause
// Reduce along a chain: each rank folds what comes from the next one after its own data and passes
// the result on towards the root. Chunk after chunk it is a pipeline: levels call it so.
//   Steps    p-1
//   Bytes    a rank sends n once and receives n once
//   Wins     large messages: every link carries n
//   Needs    messages, scratch of 2n bytes
#include <cstring>

#include "algorithms/message_fold.h"

namespace sumac::reduce {

Task chain(Strand& strand, MessageGroup& group, const ReduceArguments& args) {
  const Chain chain(group.size, group.rank, args.root);
  const std::byte* own = args.input;
  if (!chain.is_last()) {
    std::byte* result = chain.is_root() ? args.output : group.scratch + args.bytes();
    group.receive(chain.away(), group.scratch, args.bytes());
    co_await strand.until(group.stream->all_received());
    fold_two(args, args.input, group.scratch, result, args.count);
    own = result;
  }
  if (!chain.is_root()) {
    group.send(chain.towards_root(), own, args.bytes());
    co_await strand.until(group.stream->all_sent());
  } else if (own != args.output) {
    std::memcpy(args.output, own, args.bytes());
  }
}

Traffic chain_cost(const GroupCall& call) {
  return traffic_of(call, call.ranks - 1, [&](int rank, auto send) {
    const Chain chain(call.ranks, rank, call.root);
    if (!chain.is_root()) send(rank, chain.towards_root(), call.bytes);
  });
}

}  // namespace sumac::reduce
