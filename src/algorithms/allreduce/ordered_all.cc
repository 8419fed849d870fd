// SPDX-License-Identifier: BSD-3-Clause
// All-reduce in rank order for small messages: every rank gathers all ranks' data (after Bruck) and
// folds them, from the first rank's to the last's.
//   Steps    log2 p a piece
//   Bytes    a rank sends n(p-1), and folds np
//   Wins     only where bits may not depend on the placement of the ranks (SUMAC_REPRODUCIBLE)
//   Needs    messages, scratch that holds a piece of each rank's data
#include "algorithms/rank_order.h"

namespace sumac::allreduce {

Task ordered_all(Strand& strand, MessageGroup& group, const ReduceArguments& args) {
  const RankRows rows(group, args.element);
  const Part whole{0, args.bytes()};
  const std::size_t pieces = rows.pieces(whole.bytes);
  for (std::size_t i = 0; i < pieces; ++i) {
    const Part piece = rows.piece(whole, i);
    const auto ranks = static_cast<std::size_t>(group.size);
    const Parts parts{ranks * piece.bytes, group.size, piece.bytes};
    const AllgatherArguments gathered{args.input + piece.offset, {}, parts};
    co_await allgather::bruck_rows(strand, group, gathered);
    // The rows begin with this rank's.
    fold_ranks(args, group.size, args.output + piece.offset, piece.bytes / args.element,
               [&](int rank) -> const std::byte* {
                 const int row = (rank - group.rank + group.size) % group.size;
                 return group.scratch + static_cast<std::size_t>(row) * piece.bytes;
               });
  }
}

Traffic ordered_all_cost(const GroupCall& call) {
  GroupCall gathered = call;
  gathered.bytes = call.bytes * static_cast<std::uint64_t>(call.ranks);
  gathered.element = std::max<std::size_t>(1, call.bytes);
  gathered.listed = nullptr;
  gathered.radix = 2;
  Traffic traffic = allgather::bruck_cost(gathered);
  traffic.cost.steps *= RankRows::pieces_of(call, call.bytes);
  return traffic;
}

}  // namespace sumac::allreduce
