// SPDX-License-Identifier: BSD-3-Clause
// All-reduce around a ring. The vector is cut into one part a rank; part k starts at rank k, goes
// around and is folded with each rank's own; then the results go around.
//   Steps    2(p-1)
//   Bytes    a rank sends 2n(p-1)/p, always to the same neighbour
//   Wins     large messages of few ranks, any number of them
//   Needs    messages, scratch of n/p bytes. Part k is folded from rank k on: all ranks get the
//            same bits, but elements of different parts are folded in different orders
#include "algorithms/chunks.h"
#include "algorithms/messages.h"

namespace sumac::allreduce {

Task ring(Strand& strand, MessageGroup& group, const ReduceArguments& args) {
  const int p = group.size;
  const Ring ring(p, group.rank);
  const int next = ring.next(), previous = ring.previous();
  const auto part = [&](int i) { return part_of(args.bytes(), p, i); };
  for (int step = 0; step < ring.steps(); ++step) {
    const Part given = part(ring.reduced(step));
    const Part taken = part(ring.reduced(step + 1));
    group.send(next, (step == 0 ? args.input : args.output) + given.offset, given.bytes);
    group.receive(previous, group.scratch, taken.bytes);
    co_await strand.until(group.stream->all_received());
    co_await strand.until(group.stream->all_sent());
    fold_two(args, group.scratch, args.input + taken.offset, args.output + taken.offset,
             taken.bytes / args.element);
  }
  for (int step = 0; step < ring.steps(); ++step) {
    const Part given = part(ring.gathered(step));
    const Part taken = part(ring.gathered(step + 1));
    group.send(next, args.output + given.offset, given.bytes);
    group.receive(previous, args.output + taken.offset, taken.bytes);
    co_await strand.until(group.stream->all_received());
    co_await strand.until(group.stream->all_sent());
  }
}

Traffic ring_cost(const GroupCall& call) {
  const int once = Ring(call.ranks, 0).steps();
  return traffic_of(call, 2 * once, [&](int rank, auto send) {
    const Ring ring(call.ranks, rank);
    const auto bytes = [&](int part) { return part_of(call.bytes, call.ranks, part).bytes; };
    // Each time around, all parts but the one that would be next.
    const std::uint64_t not_sent = bytes(ring.reduced(once)) + bytes(ring.gathered(once));
    send(rank, ring.next(), 2 * call.bytes - not_sent);
  });
}

}  // namespace sumac::allreduce
