// SPDX-License-Identifier: BSD-3-Clause
// Reduce-scatter in rank order: each rank gets its part of all ranks' data and folds it, from the
// first rank's to the last's.
//   Steps    1 a piece, of p-1 messages
//   Bytes    a rank sends n(p-1)/p, as around a ring
//   Wins     only where bits may not depend on the placement of the ranks (SUMAC_REPRODUCIBLE)
//   Needs    messages, scratch that holds a piece of each rank's part
#include "algorithms/rank_order.h"

namespace sumac {

Task fold_own_piece(Strand& strand, MessageGroup& group, const ReduceScatterArguments& args,
                    std::size_t number, std::byte* to) {
  const RankRows rows(group, args.element);
  const Part own = rows.piece(args.parts[group.rank], number);
  const auto give = [&](int rank) {
    const Part given = rows.piece(args.parts[rank], number);
    group.send(rank, args.input + given.offset, given.bytes);
  };
  const auto take = [&](int rank) { group.receive(rank, rows[rank], own.bytes); };
  co_await exchange_with_all(strand, group, give, take);
  fold_ranks(args, group.size, to, own.bytes / args.element, [&](int rank) -> const std::byte* {
    return rank == group.rank ? args.input + own.offset : rows[rank];
  });
}

namespace reduce_scatter {

Task ordered_parts(Strand& strand, MessageGroup& group, const ReduceScatterArguments& args) {
  const RankRows rows(group, args.element);
  const Part own = args.parts[group.rank];
  const std::size_t pieces = rows.pieces(args.parts.largest());
  for (std::size_t i = 0; i < pieces; ++i) {
    std::byte* const to = args.output + (rows.piece(own, i).offset - own.offset);
    co_await fold_own_piece(strand, group, args, i, to);
  }
}

Traffic ordered_parts_cost(const GroupCall& call) {
  const Parts parts = call.parts();
  return traffic_of(call, RankRows::pieces_of(call, parts.largest()), [&](int rank, auto send) {
    for (int to = 0; to < call.ranks; ++to) {
      if (to != rank) send(rank, to, parts[to].bytes);
    }
  });
}

}  // namespace reduce_scatter
}  // namespace sumac
