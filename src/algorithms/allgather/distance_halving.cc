// SPDX-License-Identifier: BSD-3-Clause
// All-gather by recursive doubling from the farthest rank to the nearest: in step k a rank
// exchanges all that it has with the one at distance p/2^(k+1), so the last exchange, of half the
// data, is with its neighbour. It is reduce_scatter/halving backwards.
//   Steps    log2 p, two more when p is no power of two
//   Bytes    a rank sends n(p-1)/p, or else up to 2n
//   Wins     medium and large messages, where ranks that follow one another are nearer (on a
//            socket, on one kind of processor)
//   Needs    messages; scratch of n bytes, from which the parts are copied to their places
// Source: the second half of Rabenseifner's all-reduce (allreduce/rabenseifner.cc).
#include "algorithms/gather_places.h"

namespace sumac::allgather {

Task distance_halving(Strand& strand, MessageGroup& group, const AllgatherArguments& args) {
  return gather_places(strand, group, args, true);
}

Traffic distance_halving_cost(const GroupCall& call) { return gather_places_cost(call, true); }

}  // namespace sumac::allgather
