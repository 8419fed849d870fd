// SPDX-License-Identifier: BSD-3-Clause
// All-to-all of blocks of any sizes over slots. A rank knows the sizes of its own blocks alone, so
// it tells the others, with its first data, how many bytes its row has, and before the row where in
// it each block is. The longest row says how many steps there are. A row that fits the lines goes
// through these.
//   Steps    1 a slot of the longest row, pipelined, no entry or exit barrier
//   Bytes    a rank writes its row and 16 bytes a rank (4 in lines), and reads what is for it
//   Wins     wherever the MPI's own copies more or waits more
//   Needs    slots, a ring of 3 or more; that no other operation takes positions before the ranks
//            know how many this one needs
#include "algorithms/alltoallv/streams.h"

namespace sumac::alltoallv {

Task exchange_rows(Strand& strand, ShmGroup& group, const AlltoallArguments& args,
                   const SingleCopy* peers) {
  const int ranks = group.size();
  const std::uint64_t first = group.take_first({.lines = kLines, .room = group.slot_bytes(), .results = true});
  co_await strand.until(group.slot_free(first));
  Output output(group, args, peers != nullptr);
  output.put_first(first);
  group.prefetch_next_slot(first);
  args.keep_own(group.rank());
  co_await strand.until(group.others_in(first));
  const std::size_t own_steps = output.steps();
  std::size_t steps = own_steps;
  const auto input_from = [&](int distance) { return Input(group, args, peers, first, distance); };
  for (int d = 1; d < ranks; ++d) steps = std::max(steps, input_from(d).steps());
  group.take(steps - 1, {.room = group.slot_bytes()});
  group.note_finished_before(first);
  int rows_in_slots = 0, rows_fetched = output.is_fetched();
  for (int d = 1; d < ranks; ++d) {
    Input input = input_from(d);
    switch (input.way()) {
      case Way::lines:
        co_await strand.until(input.entry_in_lines());
        co_await strand.until(input.block_in_lines());
        input.take_from_lines();
        break;
      case Way::slots:
        input.expect_in_slots();
        ++rows_in_slots;
        break;
      case Way::fetched:
        input.fetch();
        ++rows_fetched;
        break;
    }
  }
  // All ranks see all rows. Not a flag: others may have gone round the ring when this rank looks.
  const Claims all_fetched(group, first, 1);
  if (rows_fetched > 0) all_fetched.note_done(group.rank());
  for (std::size_t step = 0; step < steps; ++step) {
    if (step + 1 < steps) {
      // Also where this rank has nothing more to put: no rank finishes positions a ring ahead.
      co_await strand.until(group.slot_free(first + step + 1));
      if (step + 1 < own_steps) output.put_next(first + step + 1);
    }
    for (int d = 1; rows_in_slots > 0 && d < ranks; ++d) {
      Input input = input_from(d);
      if (!input.has_some(step)) continue;
      co_await strand.until(input.in(step));
      input.take(step);
    }
    group.finish(first + step);
  }
  // The others read this rank's input until then.
  if (output.is_fetched()) co_await strand.until(all_fetched.all_done());
}

Task slots(Strand& strand, ShmGroup& group, const AlltoallArguments& args) {
  return exchange_rows(strand, group, args, nullptr);
}

Traffic slots_cost(const GroupCall& call) {
  const std::uint64_t row = others_parts(call);
  const WayOf way_of{call.ranks, Layout{}.slot_bytes, false};
  const bool lines = way_of(row) == Way::lines;
  const std::size_t table =
      lines ? bytes_in_lines(0, call.ranks) : table_bytes<SlotsEntry>(call.ranks);
  return traffic_in_memory(way_of.steps(row), 2 * row + table);
}

}  // namespace sumac::alltoallv
