// SPDX-License-Identifier: BSD-3-Clause
// All-gather around a ring: each rank passes on the part that it got last, its own first.
//   Steps    p-1
//   Bytes    a rank sends n(p-1)/p, always to the same neighbour
//   Wins     large messages
//   Needs    messages; scratch of n bytes where the output has a layout
#include "algorithms/message_fold.h"

namespace sumac::allgather {

Task ring(Strand& strand, MessageGroup& group, const AllgatherArguments& args) {
  const Ring ring(group.size, group.rank);
  std::byte* const vector = args.output.contiguous_or(group.scratch);
  const Part own = args.parts[group.rank];
  if (args.input != vector + own.offset) args.input.copy_to(vector + own.offset, own.bytes);
  for (int step = 0; step < ring.steps(); ++step) {
    const Part given = args.parts[ring.gathered(step)];
    const Part taken = args.parts[ring.gathered(step + 1)];
    group.send(ring.next(), vector + given.offset, given.bytes);
    group.receive(ring.previous(), vector + taken.offset, taken.bytes);
    co_await strand.until(group.stream->all_received());
    co_await strand.until(group.stream->all_sent());
  }
  args.output.take(vector, args.parts.bytes);
}

Traffic ring_cost(const GroupCall& call) {
  const Parts parts = call.parts();
  return traffic_of(call, Ring(call.ranks, 0).steps(), [&](int rank, auto send) {
    const int next = Ring(call.ranks, rank).next();
    send(rank, next, call.bytes - parts[next].bytes);
  });
}

}  // namespace sumac::allgather
