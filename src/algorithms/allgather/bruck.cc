// SPDX-License-Identifier: BSD-3-Clause
// All-gather after Bruck, of any radix. A rank has the parts of a run of ranks that begins with
// itself. In a round it gets the parts of the runs behind its own, so that its run becomes radix
// times as long.
//   Steps    log_k p, of up to k-1 messages each, whatever the number of ranks
//   Bytes    a rank sends n(p-1)/p, and copies n in the end
//   Wins     small messages
//   Needs    messages, scratch of n bytes
// Source: Bruck, Ho, Kipnis, Upfal, Weathersby, "Efficient algorithms for all-to-all communications
// in multiport message-passing systems", IEEE TPDS 1997.
#include "algorithms/rank_order.h"

namespace sumac::allgather {

Task bruck_rows(Strand& strand, MessageGroup& group, const AllgatherArguments& args) {
  const Bruck run(group.size, group.rank, args.radix);
  args.input.copy_to(group.scratch, args.parts[group.rank].bytes);
  for (int distance = 1; distance < group.size; distance *= args.radix) {
    for (int j = 1; j < args.radix; ++j) {
      const int ranks = run.ranks(j, distance);
      if (ranks == 0) break;
      const int from = run.from(j, distance);
      std::byte* to = group.scratch + args.parts.bytes_of(group.rank, j * distance);
      group.send(run.to(j, distance), group.scratch, args.parts.bytes_of(group.rank, ranks));
      group.receive(from, to, args.parts.bytes_of(from, ranks));
    }
    co_await strand.until(group.stream->all_received());
    co_await strand.until(group.stream->all_sent());
  }
}

Task bruck(Strand& strand, MessageGroup& group, const AllgatherArguments& args) {
  co_await bruck_rows(strand, group, args);
  args.take_from(group.scratch, group.rank);
}

Traffic bruck_cost(const GroupCall& call) {
  const Parts parts = call.parts();
  const int steps = Knomial::depth(call.ranks, call.radix);
  return traffic_of(call, steps, [&](int rank, auto send) {
    const Bruck run(call.ranks, rank, call.radix);
    for (int distance = 1; distance < call.ranks; distance *= call.radix) {
      for (int j = 1; j < call.radix; ++j) {
        const int ranks = run.ranks(j, distance);
        if (ranks > 0) send(rank, run.to(j, distance), parts.bytes_of(rank, ranks));
      }
    }
  });
}

}  // namespace sumac::allgather
