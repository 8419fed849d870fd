// SPDX-License-Identifier: BSD-3-Clause
// Reduce in rank order: each rank gets its part of all ranks' data, folds it from the first rank's
// to the last's, and sends it to the root.
//   Steps    2 a piece, of p-1 messages each
//   Bytes    a rank sends n at most; the root sends and receives 2n(p-1)/p
//   Wins     only where bits may not depend on the placement of the ranks (SUMAC_REPRODUCIBLE)
//   Needs    messages, scratch that holds a piece of each rank's part
#include "algorithms/rank_order.h"

namespace sumac::reduce {
namespace {

Parts parts_of(std::size_t bytes, int ranks) { return {bytes, ranks}; }

}  // namespace

Task ordered_parts(Strand& strand, MessageGroup& group, const ReduceArguments& args) {
  const RankRows rows(group, args.element);
  const ReduceScatterArguments scattered{args, parts_of(args.bytes(), group.size)};
  const Parts& parts = scattered.parts;
  const std::size_t pieces = rows.pieces(parts.largest());
  for (std::size_t i = 0; i < pieces; ++i) {
    const Part own = rows.piece(parts[group.rank], i);
    const bool is_root = group.rank == args.root;
    // The rank's own row is free.
    std::byte* const folded = is_root ? args.output + own.offset : rows[group.rank];
    co_await fold_own_piece(strand, group, scattered, i, folded);
    if (is_root) {
      for (int rank = 0; rank < group.size; ++rank) {
        const Part piece = rows.piece(parts[rank], i);
        if (rank != args.root) group.receive(rank, args.output + piece.offset, piece.bytes);
      }
      co_await strand.until(group.stream->all_received());
    } else {
      group.send(args.root, folded, own.bytes);
      co_await strand.until(group.stream->all_sent());
    }
  }
}

Traffic ordered_parts_cost(const GroupCall& call) {
  const Parts parts = parts_of(call.bytes, call.ranks);
  return traffic_of(call, 2 * RankRows::pieces_of(call, parts.largest()), [&](int rank, auto send) {
    for (int to = 0; to < call.ranks; ++to) {
      if (to != rank) send(rank, to, parts[to].bytes);
    }
    if (rank != call.root) send(rank, call.root, parts[rank].bytes);
  });
}

}  // namespace sumac::reduce
