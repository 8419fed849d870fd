// SPDX-License-Identifier: BSD-3-Clause
// All-reduce by single copy, the work split. Each rank fetches its own part of all ranks' inputs
// piece by piece, folds it while it is in the cache, and stores the result into all ranks' outputs.
//   Steps    2: addresses out, all parts done; between them no rank waits
//   Bytes    a rank fetches and stores n(p-1)/p and folds n in all; nothing goes through slots
//   Wins     large messages
//   Needs    access to peers' memory. Part r of every rank's buffers is touched by rank r alone, so
//            in-place calls are safe
#include "algorithms/single_copy.h"
#include "algorithms/algorithms.h"

namespace sumac::allreduce {

Task single_copy(Strand& strand, ShmGroup& group, const ReduceArguments& args,
                 const SingleCopy& peers) {
  const std::uint64_t position = group.take(1);
  co_await strand.until(group.slot_free(position));
  show_buffers(group, position, args.input, args.output);
  co_await strand.until(group.others_in(position));

  const Part own = part_of(args.bytes(), group.size(), group.rank());
  fold_from_peers(group, args, peers, position, own, true,
                  [&](std::size_t at, const std::byte* result, std::size_t bytes) {
                    store_to_peers(group, peers, position, at, result, bytes);
                  });
  group.publish_out(position);
  co_await strand.until(group.others_out(position));
  group.finish(position);
  group.note_finished_before(position);
}

}  // namespace sumac::allreduce
