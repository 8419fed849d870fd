// SPDX-License-Identifier: BSD-3-Clause
// All-reduce in place. Each rank folds its part of the vector, in blocks of 16 KiB, from all ranks'
// inputs into its own output, and copies each block into the others' outputs. A rank that would
// only wait does the same for the part of a busy rank.
//   Steps    3: addresses out, edges out, all pieces done
//   Bytes    a rank reads n(p-1)/p of others, folds n in all and writes n(p-1)/p
//   Wins     from some pages on, wherever buffers are used again and again
//   Needs    inputs and outputs of all ranks mapped by all. A piece of every rank's buffers is
//            touched by one rank alone, so in-place calls are safe
#include "algorithms/direct.h"
#include "algorithms/functions.h"

namespace sumac::allreduce {

Task direct(Strand& strand, ShmGroup& group, const ReduceArguments& args, const SingleCopy& peers,
            const Direct& direct) {
  return fold_in_place(
      strand, group, args, peers, direct, args.output,
      [&args](int, Part part) { return args.output + part.offset; },
      [&group, &peers](std::uint64_t position, int, std::size_t at, const std::byte* result,
                       std::size_t bytes) {
        store_to_peers(group, peers, position, at, result, bytes);
      });
}

Traffic direct_cost(const GroupCall& call) {
  return in_place(call.ranks, 2 * others_parts(call), call.ranks - 1);
}

}  // namespace sumac::allreduce
