// SPDX-License-Identifier: BSD-3-Clause
// All-reduce around a ring. The vector is cut into one part a rank; part k starts at rank k, goes
// around and is folded with each rank's own; then the results go around.
//   Steps    2(p-1)
//   Bytes    a rank sends 2n(p-1)/p, always to the same neighbour
//   Wins     large messages, first of all where the number of ranks is no power of two
//   Needs    messages, scratch of n/p bytes. Part k is folded from rank k on: all ranks get the
//            same bits, but elements of different parts are folded in different orders
// Source: Patarasuk, Yuan, "Bandwidth optimal all-reduce algorithms for clusters of workstations",
// JPDC 2009.
#include "algorithms/message_fold.h"

namespace sumac::allreduce {
namespace {

// A rank reduces the part of the next rank, so that each part starts at the rank that has its
// number.
Parts parts_of(std::size_t bytes, int ranks) { return {bytes, ranks, kCacheLine, 1}; }

}  // namespace

Task ring(Strand& strand, MessageGroup& group, const ReduceArguments& args) {
  const Parts parts = parts_of(args.bytes(), group.size);
  ReduceScatterArguments scattered{args, parts};
  scattered.output = args.output + parts[group.rank].offset;
  co_await reduce_scatter::ring(strand, group, scattered);
  const AllgatherArguments gathered{scattered.output, args.output, parts};
  co_await allgather::ring(strand, group, gathered);
}

Traffic ring_cost(const GroupCall& call) {
  const Parts parts = parts_of(call.bytes, call.ranks);
  return traffic_of(call, 2 * Ring(call.ranks, 0).steps(), [&](int rank, auto send) {
    const int next = Ring(call.ranks, rank).next();
    send(rank, next, 2 * call.bytes - parts[rank].bytes - parts[next].bytes);
  });
}

}  // namespace sumac::allreduce
