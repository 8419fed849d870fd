// SPDX-License-Identifier: BSD-3-Clause
// Reduce in rank order for small messages: the root gets all ranks' data and folds them, from the
// first rank's to the last's.
//   Steps    1 a piece, of p-1 messages
//   Bytes    a rank sends n; the root receives n(p-1) and folds np
//   Wins     only where bits may not depend on the placement of the ranks (SUMAC_REPRODUCIBLE)
//   Needs    messages, scratch that holds a piece of each rank's data
#include "algorithms/rank_order.h"

namespace sumac::reduce {

Task ordered_all(Strand& strand, MessageGroup& group, const ReduceArguments& args) {
  const RankRows rows(group, args.element);
  const Part whole{0, args.bytes()};
  const std::size_t pieces = rows.pieces(whole.bytes);
  for (std::size_t i = 0; i < pieces; ++i) {
    const Part piece = rows.piece(whole, i);
    const std::byte* const own = args.input + piece.offset;
    if (group.rank != args.root) {
      group.send(args.root, own, piece.bytes);
      co_await strand.until(group.stream->all_sent());
      continue;
    }
    for (int rank = 0; rank < group.size; ++rank) {
      if (rank != args.root) group.receive(rank, rows[rank], piece.bytes);
    }
    co_await strand.until(group.stream->all_received());
    fold_ranks(args, group.size, args.output + piece.offset, piece.bytes / args.element,
               [&](int rank) -> const std::byte* { return rank == args.root ? own : rows[rank]; });
  }
}

Traffic ordered_all_cost(const GroupCall& call) {
  return traffic_of(call, RankRows::pieces_of(call, call.bytes), [&](int rank, auto send) {
    if (rank != call.root) send(rank, call.root, call.bytes);
  });
}

}  // namespace sumac::reduce
