// SPDX-License-Identifier: BSD-3-Clause
// Reduce-scatter over lines. Every rank writes the whole vector into its own slot's lines and folds
// its own part of all ranks' lines, in the group's order, into its result.
//   Steps    1, no entry or exit barrier; a rank without a part waits for nobody
//   Bytes    a rank writes n and reads n(p-1)/p; n element operations on every rank
//   Wins     small messages
//   Needs    slots, n <= kLinesData
#include "algorithms/lines.h"
#include "algorithms/functions.h"

namespace sumac::reduce_scatter {

Task lines(Strand& strand, ShmGroup& group, const ReduceScatterArguments& args) {
  const Part own = args.parts[group.rank()];
  const std::uint64_t position = group.take(1, {.lines = lines_for(args.bytes())});
  co_await strand.until(group.slot_free(position));
  put_lines(group, position, args.input, args.bytes());
  group.note_lines(lines_for(args.bytes()));
  group.prefetch_next_slot(position);
  // The rank's lines are in, in their order, up to the last that holds a piece of the part.
  const int lines = lines_for(own.offset + own.bytes);
  for (int r = 0; r < group.size() && own.bytes > 0; ++r) {
    if (r != group.rank()) co_await strand.until(group.lines_in(r, position, lines));
  }
  if (own.bytes > 0) fold_lines(group, position, args, own, args.output);
  group.finish(position);
  if (own.bytes > 0) group.note_finished_before(position);
}

Traffic lines_cost(const GroupCall& call) {
  // A rank reads the lines before its part, too: in the mean every other one.
  const int lines = lines_for(call.bytes), others = call.ranks - 1;
  return through_lines(1, call.bytes + others_parts(call), others,
                       {lines, others * (lines + 1) / 2});
}

}  // namespace sumac::reduce_scatter
