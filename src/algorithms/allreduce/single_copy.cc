// SPDX-License-Identifier: BSD-3-Clause
// All-reduce by single copy, with shared work. Each rank has a part of the vector. A piece of it is
// fetched from all ranks' inputs, folded while it is in the cache, and stored into all ranks'
// outputs, by the rank itself or by one that has nothing else to do.
//   Steps    2: addresses out, all pieces done; between them no rank waits, and nothing is needed
//            from a rank that is busy elsewhere
//   Bytes    a rank fetches and stores n(p-1)/p and folds n in all; nothing goes through slots
//   Wins     large messages
//   Needs    access to peers' memory. A piece of every rank's buffers is touched by one rank alone,
//            so in-place calls are safe
#include "algorithms/single_copy.h"
#include "algorithms/functions.h"

namespace sumac::allreduce {

Task single_copy(Strand& strand, ShmGroup& group, const ReduceArguments& args,
                 const SingleCopy& peers) {
  return reduce_shares(
      strand, group, args, peers, {args.bytes(), group.size()}, args.output,
      [&args](int, Part part) { return args.output + part.offset; },
      [&group, &peers](std::uint64_t position, int, std::size_t at, const std::byte* result,
                       std::size_t bytes) {
        store_to_peers(group, peers, position, at, result, bytes);
      });
}

Traffic single_copy_cost(const GroupCall& call) {
  const int others = call.ranks - 1;
  return by_attach(call.ranks, 2 * others_parts(call), others, {2 * others});
}

}  // namespace sumac::allreduce
