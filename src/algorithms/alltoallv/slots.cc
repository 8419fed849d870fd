// SPDX-License-Identifier: BSD-3-Clause
// All-to-all of blocks of any sizes over slots. A rank knows only the sizes of its own blocks, so
// it tells the others, with its first data, how many bytes its row has and, before the row, where
// in it each block is. The longest row says how many steps there are. A row that fits the lines
// goes through them.
//   Steps    1 a slot of the longest row, pipelined, no entry or exit barrier
//   Bytes    a rank writes its row and 16 bytes a rank (4 in lines), and reads what is for it
//   Wins     wherever the MPI's own copies more or waits more
//   Needs    slots, a ring of 3 or more; that no other operation takes positions before the ranks
//            know how many this one needs
#include "algorithms/alltoallv/streams.h"

namespace sumac::alltoallv {
namespace {

// Waits at a last position, whose slots have no data, until all have fetched, because they read
// this rank's input until then.
Task end_fetching(Strand& strand, ShmGroup& group, const AlltoallArguments& args,
                  const SingleCopy& peers, std::uint64_t position,
                  const std::vector<Unread>& unread) {
  co_await strand.until(group.slot_free(position));
  const Claims all_fetched(group, position, 1);
  if (peers.refusals->any() || !unread.empty()) [[unlikely]]
    group.mark_refused(group.rank(), position);
  all_fetched.note_done(group.rank());
  co_await strand.until(all_fetched.all_done());
  if (group.any_refused(position)) [[unlikely]] {
    peers.refusals->note_agreed();
    Relay relay(group, position);
    co_await relay_turn(strand, relay);
    for (const Unread& row : unread) {
      Part part{};
      co_await relay_read(strand, relay, row.from, row.entry, reinterpret_cast<std::byte*>(&part),
                          sizeof part);
      const Part mine = args.received[row.from];
      co_await relay_read(strand, relay, row.from, row.input + part.offset,
                          args.output + mine.offset, std::min(mine.bytes, part.bytes));
    }
    co_await relay_copies(strand, relay, *peers.refusals, -1);
    co_await end_turn(strand, relay);
  }
  group.finish(position);
}

}  // namespace

Task exchange_rows(Strand& strand, ShmGroup& group, const AlltoallArguments& args,
                   const SingleCopy* peers) {
  const int ranks = group.size();
  const std::uint64_t first =
      group.take_first({.lines = kLines, .room = group.slot_bytes(), .results = true});
  co_await strand.until(group.slot_free(first));
  Output output(group, args, peers && !peers->avoid && args.input.contiguous());
  output.put_first(first);
  group.prefetch_next_slot(first);
  args.keep_own(group.rank());
  co_await strand.until(group.others_in(first));
  const std::size_t own_steps = output.steps();
  std::size_t steps = own_steps;
  const auto input_from = [&](int distance) { return Input(group, args, peers, first, distance); };
  bool any_fetched = output.is_fetched();  // all ranks see all rows, so they agree
  for (int d = 1; d < ranks; ++d) {
    steps = std::max(steps, input_from(d).steps());
    any_fetched |= input_from(d).way() == ExchangeWay::fetched;
  }
  group.take(steps - 1 + any_fetched, {.room = group.slot_bytes(), .results = any_fetched});
  group.note_finished_before(first);
  int rows_in_slots = 0;
  std::vector<Unread> unread;
  for (int d = 1; d < ranks; ++d) {
    Input input = input_from(d);
    switch (input.way()) {
      case ExchangeWay::lines:
        co_await strand.until(input.entry_in_lines());
        co_await strand.until(input.block_in_lines());
        input.take_from_lines();
        break;
      case ExchangeWay::slots:
        input.expect_in_slots();
        ++rows_in_slots;
        break;
      case ExchangeWay::fetched:
        if (!input.fetch()) unread.push_back(input.unread());
        break;
    }
  }
  for (std::size_t step = 0; step < steps; ++step) {
    if (step + 1 < steps) {
      // A rank that has nothing more to put waits, too, because no rank may finish positions a ring
      // ahead.
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
  if (any_fetched) co_await end_fetching(strand, group, args, *peers, first + steps, unread);
}

Task slots(Strand& strand, ShmGroup& group, const AlltoallArguments& args) {
  return exchange_rows(strand, group, args, nullptr);
}

Traffic slots_cost(const GroupCall& call) {
  const std::uint64_t row = others_parts(call);
  const WayOf way_of{call.ranks, Layout{}.slot_bytes, false};
  const bool lines = way_of(row) == ExchangeWay::lines;
  const std::size_t table =
      lines ? bytes_in_lines(0, call.ranks) : table_bytes<SlotsEntry>(call.ranks);
  const std::uint64_t bytes = 2 * row + table;
  const int others = call.ranks - 1;
  if (lines) return through_lines(1, bytes, others, {lines_for(row + table), 2 * others});
  return through_slots(call.ranks, way_of.steps(row), bytes, others);
}

}  // namespace sumac::alltoallv
