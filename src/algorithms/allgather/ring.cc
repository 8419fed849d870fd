// SPDX-License-Identifier: BSD-3-Clause
// All-gather around a ring: each rank passes on the part that it got last, its own first.
//   Steps    p-1
//   Bytes    a rank sends n(p-1)/p, always to the same neighbour
//   Wins     large messages
//   Needs    messages
#include "algorithms/message_fold.h"

namespace sumac::allgather {

Task ring(Strand& strand, MessageGroup& group, const AllgatherArguments& args) {
  const Ring ring(group.size, group.rank);
  args.keep_own(group.rank);
  for (int step = 0; step < ring.steps(); ++step) {
    const Part given = args.parts[ring.gathered(step)];
    const Part taken = args.parts[ring.gathered(step + 1)];
    group.send(ring.next(), args.output + given.offset, given.bytes);
    group.receive(ring.previous(), args.output + taken.offset, taken.bytes);
    co_await strand.until(group.stream->all_received());
    co_await strand.until(group.stream->all_sent());
  }
}

Traffic ring_cost(const GroupCall& call) {
  const Parts parts = call.parts();
  return traffic_of(call, Ring(call.ranks, 0).steps(), [&](int rank, auto send) {
    const int next = Ring(call.ranks, rank).next();
    send(rank, next, call.bytes - parts[next].bytes);
  });
}

}  // namespace sumac::allgather
