// SPDX-License-Identifier: BSD-3-Clause
// Reduce by single copy, the work shared. Each rank has a part of the vector; a piece of it is
// fetched from all ranks' inputs, folded and stored into the root's output, by the rank itself or
// by one that has nothing else to do.
//   Steps    2: addresses out, all pieces done; of a rank that is busy elsewhere nothing is needed
//   Bytes    a rank fetches n(p-1)/p, folds n in all and stores n/p
//   Wins     large messages
//   Needs    access to peers' memory
#include "algorithms/single_copy.h"
#include "algorithms/algorithms.h"

namespace sumac::reduce {

Task single_copy(Strand& strand, ShmGroup& group, const ReduceArguments& args,
                 const SingleCopy& peers) {
  const bool root = group.rank() == args.root;
  const std::uint64_t position = group.take(1);
  co_await strand.until(group.slot_free(position));
  show_buffers(group, position, args.input, args.output);
  co_await strand.until(group.others_in(position));

  const std::uintptr_t output = buffers_of(group, args.root, position).output;
  const Shares shares(group, args.bytes(), peers);
  const Claims claims(group, position, shares.pieces());
  const auto fold_piece = [&](const SingleCopy& own, int owner, std::size_t piece) {
    fold_from_peers(group, args, own, position, shares.part(owner, piece), root,
                    [&](std::size_t at, const std::byte* result, std::size_t bytes) {
                      if (root) return;
                      if (!peers.memory->write(args.root, output + at, result, bytes)) {
                        note_failed(peers);
                      }
                    });
  };
  fold_own_share(
      group, claims, peers, shares.bytes(group.rank()),
      [&](const SingleCopy& own, std::size_t piece) { fold_piece(own, group.rank(), piece); });
  co_await strand.until_idle(claims.all_done());
  do_what_is_left(group, claims,
                  [&](int owner, std::size_t piece) { fold_piece(peers, owner, piece); });
  // All wait for all: inputs are read, and the root's output written, by others until then.
  co_await strand.until(claims.all_done());
  group.finish(position);
  group.note_finished_before(position);
}

Traffic single_copy_cost(const GroupCall& call) { return traffic_in_memory(2, call.bytes); }

}  // namespace sumac::reduce
