// SPDX-License-Identifier: BSD-3-Clause
// All-reduce, flat over lines. Every rank writes its data into its own slot's lines, waits for all
// others' lines and folds them all, in rank order, into its own result.
//   Steps    1, no entry or exit barrier
//   Bytes    a rank writes n and reads p*n; p*n element operations on every rank
//   Wins     small messages: the one transfer of a cache line is nearly all there is to wait for
//   Needs    slots, n <= kLinesData. Every rank folds in the same order: same bits on all
#include "algorithms/algorithms.h"
#include "algorithms/lines.h"

namespace sumac::allreduce {

Task flat_lines(Strand& strand, ShmGroup& group, const ReduceArguments& args) {
  const int lines = lines_for(args.bytes());
  const std::uint64_t position = group.take(1);
  co_await strand.until(group.slot_free(position));
  put_lines(group, position, args.input, args.bytes());
  group.note_lines(lines);
  group.prefetch_next_slot(position);
  co_await strand.until(group.others_in(position));
  for (int r = 0; r < group.size() && lines > 1; ++r) {
    if (r != group.rank()) co_await strand.until(group.lines_in(r, position, lines));
  }
  fold_lines(group, position, args.kernel, args.input, args.output, args.count, args.element);
  group.finish(position);
  group.note_finished_before(position);
}

}  // namespace sumac::allreduce
