// SPDX-License-Identifier: BSD-3-Clause
// All-reduce by single copy, the work shared. Each rank has a part of the vector; a piece of it is
// fetched from all ranks' inputs, folded while it is in the cache, and stored into all ranks'
// outputs, by the rank itself or by one that has nothing else to do.
//   Steps    2: addresses out, all pieces done; between them no rank waits, and of a rank that is
//            busy elsewhere nothing is needed
//   Bytes    a rank fetches and stores n(p-1)/p and folds n in all; nothing goes through slots
//   Wins     large messages
//   Needs    access to peers' memory. A piece of every rank's buffers is touched by one rank alone,
//            so in-place calls are safe
#include "algorithms/single_copy.h"
#include "algorithms/algorithms.h"

namespace sumac::allreduce {

Task single_copy(Strand& strand, ShmGroup& group, const ReduceArguments& args,
                 const SingleCopy& peers) {
  const std::uint64_t position = group.take(1);
  co_await strand.until(group.slot_free(position));
  show_buffers(group, position, args.input, args.output);
  co_await strand.until(group.others_in(position));

  const Shares shares(group, args.bytes(), peers);
  const Claims claims(group, position, shares.pieces());
  const auto fold_piece = [&](const SingleCopy& own, int owner, std::size_t piece) {
    fold_from_peers(group, args, own, position, shares.part(owner, piece), true,
                    [&](std::size_t at, const std::byte* result, std::size_t bytes) {
                      store_to_peers(group, peers, position, at, result, bytes);
                    });
  };
  fold_own_share(
      group, claims, peers, shares.bytes(group.rank()),
      [&](const SingleCopy& own, std::size_t piece) { fold_piece(own, group.rank(), piece); });
  co_await strand.until_idle(claims.all_done());
  do_what_is_left(group, claims,
                  [&](int owner, std::size_t piece) { fold_piece(peers, owner, piece); });
  co_await strand.until(claims.all_done());
  group.finish(position);
  group.note_finished_before(position);
}

Traffic single_copy_cost(const GroupCall& call) {
  return traffic_in_memory(2, 2 * others_parts(call));
}

}  // namespace sumac::allreduce
