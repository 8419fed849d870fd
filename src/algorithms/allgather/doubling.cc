// SPDX-License-Identifier: BSD-3-Clause
// All-gather by recursive doubling. In step k a rank and the one at distance 2^k exchange all that
// they have.
//   Steps    log2 p, two more when p is no power of two
//   Bytes    a rank sends n(p-1)/p, or else up to 2n
//   Wins     medium messages of a power of two of ranks: no copies beside the messages
//   Needs    messages; scratch of n bytes where the parts of the output do not adjoin, or have a
//   layout
// Source: as allreduce/recursive_doubling.cc.
#include "algorithms/gather_places.h"

namespace sumac::allgather {

Task doubling(Strand& strand, MessageGroup& group, const AllgatherArguments& args) {
  return gather_places(strand, group, args, false);
}

Traffic doubling_cost(const GroupCall& call) { return gather_places_cost(call, false); }

}  // namespace sumac::allgather
