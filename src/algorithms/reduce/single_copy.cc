// SPDX-License-Identifier: BSD-3-Clause
// Reduce by single copy, with shared work. Each rank has a part of the vector. A piece of it is
// fetched from all ranks' inputs, folded and stored into the root's output, by the rank itself or
// by one that has nothing else to do.
//   Steps    2: addresses out, all pieces done; a rank that is busy elsewhere holds nobody up
//   Bytes    a rank fetches n(p-1)/p, folds n in all and stores n/p
//   Wins     large messages
//   Needs    access to peers' memory
#include "algorithms/single_copy.h"
#include "algorithms/functions.h"

namespace sumac::reduce {

Task single_copy(Strand& strand, ShmGroup& group, const ReduceArguments& args,
                 const SingleCopy& peers) {
  return reduce_shares(
      strand, group, args, peers, {args.bytes(), group.size()}, args.output,
      [&args, root = group.rank() == args.root](int, Part part) {
        return root ? args.output + part.offset : nullptr;
      },
      [&group, &args, &peers](std::uint64_t position, int, std::size_t at, const std::byte* result,
                              std::size_t bytes) {
        if (group.rank() == args.root) return;
        store_to_peer(group, peers, position, args.root, at, result, bytes);
      });
}

Traffic single_copy_cost(const GroupCall& call) {
  return by_attach(call.ranks, call.bytes, call.ranks - 1, {call.ranks - 1});
}

}  // namespace sumac::reduce
