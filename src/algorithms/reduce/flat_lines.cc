// SPDX-License-Identifier: BSD-3-Clause
// Reduce, flat over lines. Every other rank writes its data into its own slot's lines and leaves;
// the root folds them, in the group's order, with its own input.
//   Steps    1; non-roots do not wait for the root until the ring is full
//   Bytes    a non-root writes n; the root reads p*n and does all the arithmetic
//   Wins     small messages
//   Needs    slots, n <= kLinesData
#include "algorithms/functions.h"
#include "algorithms/lines.h"

namespace sumac::reduce {

Task flat_lines(Strand& strand, ShmGroup& group, const ReduceArguments& args) {
  const int lines = lines_for(args.bytes());
  const std::uint64_t position = group.take(1, {.lines = lines});
  if (group.rank() != args.root) {
    co_await strand.until(group.slot_free(position));
    put_lines(group, position, args.input, args.bytes());
  } else {
    for (int r = 0; r < group.size(); ++r) {
      if (r != args.root) co_await strand.until(group.lines_in(r, position, lines));
    }
    fold_lines(group, position, args);
  }
  group.finish(position);
}

Traffic flat_lines_cost(const GroupCall& call) {
  // The root is the busiest.
  const int lines = lines_for(call.bytes), others = call.ranks - 1;
  return through_lines(1, others_vectors(call), others, {lines, others * lines});
}

}  // namespace sumac::reduce
