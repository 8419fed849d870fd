// SPDX-License-Identifier: BSD-3-Clause
// Reduce-scatter by single copy. A piece of a rank's part is fetched from all ranks' inputs and
// folded while it is in the cache, by the rank itself or by one that has nothing else to do, which
// stores it into the rank's output.
//   Steps    2: addresses out, all pieces done; a rank that is busy elsewhere holds nobody up
//   Bytes    a rank fetches n(p-1)/p and folds n in all; nothing goes through slots
//   Wins     large messages
//   Needs    access to peers' memory
#include "algorithms/single_copy.h"
#include "algorithms/functions.h"

namespace sumac::reduce_scatter {

Task single_copy(Strand& strand, ShmGroup& group, const ReduceScatterArguments& args,
                 const SingleCopy& peers) {
  return reduce_shares(
      strand, group, args, peers, args.parts, args.output,
      [&group, &args](int owner, Part part) -> std::byte* {
        if (owner != group.rank()) return nullptr;
        return args.output + (part.offset - args.parts[owner].offset);
      },
      [&group, &args, &peers](std::uint64_t position, int owner, std::size_t at,
                              const std::byte* result, std::size_t bytes) {
        if (owner == group.rank()) return;
        const std::size_t offset = at - args.parts[owner].offset;
        store_to_peer(group, peers, position, owner, offset, result, bytes);
      });
}

Traffic single_copy_cost(const GroupCall& call) {
  return by_attach(call.ranks, others_parts(call), call.ranks - 1, {call.ranks - 1});
}

}  // namespace sumac::reduce_scatter
