// SPDX-License-Identifier: BSD-3-Clause
// All-to-all over lines. Every rank writes its row into its own slot's lines and takes its blocks
// from the lines of all others.
//   Steps    1, no entry or exit barrier
//   Bytes    a rank writes p-1 blocks and reads p-1
//   Wins     small messages
//   Needs    slots, a row of at most kLinesData
#include "algorithms/lines.h"
#include "algorithms/functions.h"
#include "algorithms/rows.h"

namespace sumac::alltoall {
namespace {

void put_row(ShmGroup& group, std::uint64_t position, const AlltoallArguments& args,
             std::size_t bytes) {
  alignas(kCacheLine) std::byte packed[round_up(kLinesData, kCacheLine)];
  Row(args, group.rank()).take(bytes, [&](const ConstBytes& from, std::size_t at, std::size_t n) {
    from.copy_to(packed + at, n);
  });
  put_lines(group, position, packed, bytes);
}

}  // namespace

Task lines(Strand& strand, ShmGroup& group, const AlltoallArguments& args) {
  const int ranks = group.size();
  const std::size_t row = row_bytes(args, group.rank());
  const std::uint64_t position = group.take(1, {.lines = lines_for(row)});
  co_await strand.until(group.slot_free(position));
  put_row(group, position, args, row);
  group.note_lines(lines_for(row));
  group.prefetch_next_slot(position);
  args.keep_own(group.rank());
  co_await strand.until(group.others_in(position));
  for (int distance = 1; distance < ranks; ++distance) {
    const int from = rank_before(group.rank(), distance, ranks);
    const Part block = args.received[from];
    const std::size_t place = static_cast<std::size_t>(distance - 1) * block.bytes;
    co_await strand.until(lines_with(group, from, position, place, block.bytes));
    take_lines(group, from, position, args.output + block.offset, block.bytes, place);
  }
  group.finish(position);
  group.note_finished_before(position);
}

Traffic lines_cost(const GroupCall& call) {
  const int others = call.ranks - 1;
  const int of_block = lines_for(div_up(call.bytes, static_cast<std::size_t>(call.ranks)));
  return through_lines(1, 2 * others_parts(call), others,
                       {lines_for(call.bytes), others * of_block});
}

}  // namespace sumac::alltoall
