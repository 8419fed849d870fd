// SPDX-License-Identifier: BSD-3-Clause
// Broadcast along a chain, each rank passing on to the next. Chunk after chunk it is a pipeline:
// levels call it so.
//   Steps    p-1
//   Bytes    a rank sends n once
//   Wins     large messages: every link carries n
//   Needs    messages
#include "algorithms/message_fold.h"

namespace sumac::bcast {

Task chain(Strand& strand, MessageGroup& group, const BcastArguments& args) {
  const Chain chain(group.size, group.rank, args.root);
  std::byte* const data = args.buffer.contiguous_or(group.scratch);
  if (chain.is_root()) {
    args.buffer.packed(data, args.bytes);
  } else {
    group.receive(chain.towards_root(), data, args.bytes);
    co_await strand.until(group.stream->all_received());
  }
  if (!chain.is_last()) group.send(chain.away(), data, args.bytes);
  if (!chain.is_root()) args.buffer.take(data, args.bytes);
  if (!chain.is_last()) co_await strand.until(group.stream->all_sent());
}

Traffic chain_cost(const GroupCall& call) {
  return traffic_of(call, call.ranks - 1, [&](int rank, auto send) {
    const Chain chain(call.ranks, rank, call.root);
    if (!chain.is_root()) send(chain.towards_root(), rank, call.bytes);
  });
}

}  // namespace sumac::bcast
