// SPDX-License-Identifier: BSD-3-Clause
// Reduce in place. Each rank folds its part of the vector from all ranks' inputs into the root's
// output. A rank that would only wait does the same for the part of a busy rank.
//   Steps    3: addresses out, edges out, all pieces done
//   Bytes    a rank reads n(p-1)/p of others, folds n in all and writes n/p
//   Wins     from some pages on, wherever buffers are used again and again
//   Needs    inputs of all ranks and the root's output mapped by all
#include "algorithms/direct.h"
#include "algorithms/functions.h"

namespace sumac::reduce {

Task direct(Strand& strand, ShmGroup& group, const ReduceArguments& args, const SingleCopy& peers,
            const Direct& direct) {
  const bool root = group.rank() == args.root;
  // This rank forms a part of the result in the root's output, if it sees that and need not stream.
  const auto place = [&group, &args, &peers, at = direct.position, root](std::size_t offset,
                                                                         std::size_t bytes) {
    if (root) return args.output + offset;
    if (peers.streams) return static_cast<std::byte*>(nullptr);
    return seen(peers, args.root, buffers_of(group, args.root, at).output + offset, bytes);
  };
  return fold_in_place(
      strand, group, args, peers, direct, root ? args.output : nullptr,
      [place](int, Part part) { return place(part.offset, part.bytes); },
      [place, &group, &args, &peers](std::uint64_t position, int, std::size_t at,
                                     const std::byte* result, std::size_t bytes) {
        if (result != place(at, bytes)) {
          store_to_peer(group, peers, position, args.root, at, result, bytes);
        }
      });
}

Traffic direct_cost(const GroupCall& call) {
  return in_place(call.ranks, call.bytes, call.ranks - 1);
}

}  // namespace sumac::reduce
