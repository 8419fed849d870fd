// SPDX-License-Identifier: BSD-3-Clause
// All-to-all over slots. Every rank copies its row piece by piece into its slots and its blocks out
// of the others' (rows_in_slots.h).
//   Steps    1 a slot of the row, pipelined, no entry or exit barrier
//   Bytes    a rank writes p-1 blocks and reads p-1
//   Wins     medium messages, and wherever single copy is not available
//   Needs    slots, a ring of 3 or more
#include "algorithms/alltoall/rows_in_slots.h"
#include "algorithms/functions.h"

namespace sumac::alltoall {

Task slots(Strand& strand, ShmGroup& group, const AlltoallArguments& args) {
  const auto keep_own = [&] { args.keep_own(group.rank()); };
  if (row_bytes(args, group.rank()) == 0) {
    keep_own();
    group.take(0);  // alltoall:direct may have taken a first one
    co_return;
  }
  const std::uint64_t first = take_rows(group, args);
  co_await bring_rows(
      strand, group, args, first, [](int) { return true; }, keep_own);
  // Every other rank has begun this call by now.
  group.note_finished_before(first);
}

Traffic slots_cost(const GroupCall& call) {
  const std::uint64_t row = others_parts(call);
  return through_slots(call.ranks, slot_chunks(row, divided_chunk(call)).count(), 2 * row,
                       call.ranks - 1);
}

}  // namespace sumac::alltoall
