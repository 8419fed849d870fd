// SPDX-License-Identifier: BSD-3-Clause
// Reduce-scatter around a ring: each part starts at the rank after the one that it is for, goes
// around and is folded with each rank's own.
//   Steps    p-1
//   Bytes    a rank sends n(p-1)/p, always to the same neighbour
//   Wins     large messages
//   Needs    messages, scratch of two parts. Part k is folded from rank k+1 on: elements of
//            different parts are folded in different orders
#include "algorithms/message_fold.h"

namespace sumac::reduce_scatter {

Task ring(Strand& strand, MessageGroup& group, const ReduceScatterArguments& args) {
  const Ring ring(group.size, group.rank);
  const std::size_t room = args.parts.largest();
  const std::byte* own = args.input + args.parts[ring.reduced(0)].offset;
  for (int step = 0; step < ring.steps(); ++step) {
    const Part taken = args.parts[ring.reduced(step + 1)];
    std::byte* incoming = group.scratch + (step % 2 ? room : 0);
    group.send(ring.next(), own, args.parts[ring.reduced(step)].bytes);
    group.receive(ring.previous(), incoming, taken.bytes);
    co_await strand.until(group.stream->all_received());
    co_await strand.until(group.stream->all_sent());
    const bool last = step + 1 == ring.steps();
    fold_two(args, incoming, args.input + taken.offset, last ? args.output : incoming,
             taken.bytes / args.element);
    own = incoming;
  }
}

Traffic ring_cost(const GroupCall& call) {
  const Parts parts = call.parts();
  return traffic_of(call, Ring(call.ranks, 0).steps(), [&](int rank, auto send) {
    send(rank, Ring(call.ranks, rank).next(), call.bytes - parts[rank].bytes);
  });
}

}  // namespace sumac::reduce_scatter
