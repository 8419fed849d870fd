// SPDX-License-Identifier: BSD-3-Clause
// All-gather over lines. Every rank writes its part into its own slot's lines and collects all
// others'.
//   Steps    1, no entry or exit barrier
//   Bytes    a rank writes its part and reads the others'
//   Wins     small messages
//   Needs    slots, parts of at most kLinesData
#include "algorithms/lines.h"
#include "algorithms/functions.h"

namespace sumac::allgather {

Task lines(Strand& strand, ShmGroup& group, const AllgatherArguments& args) {
  const Part own = args.parts[group.rank()];
  const std::uint64_t position = group.take(1, {.lines = lines_for(args.parts.largest())});
  co_await strand.until(group.slot_free(position));
  put_lines(group, position, args.input, own.bytes);
  group.note_lines(lines_for(own.bytes));
  group.prefetch_next_slot(position);
  args.keep_own(group.rank());
  co_await strand.until(group.others_in(position));
  for (int r = 0; r < group.size(); ++r) {
    if (r == group.rank()) continue;
    const Part theirs = args.parts[r];
    const int lines = lines_for(theirs.bytes);
    if (lines > 1) co_await strand.until(group.lines_in(r, position, lines));
    take_lines(group, r, position, args.output + theirs.offset, theirs.bytes);
  }
  group.finish(position);
  group.note_finished_before(position);
}

Traffic lines_cost(const GroupCall& call) {
  const int lines = lines_for(call.parts().largest()), others = call.ranks - 1;
  return through_lines(1, call.bytes, others, {lines, others * lines});
}

}  // namespace sumac::allgather
