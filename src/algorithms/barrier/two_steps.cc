// SPDX-License-Identifier: BSD-3-Clause
// Barrier in two steps: each rank waits for its run of neighbouring ranks, says so in the flag of a
// second position, and waits for one rank of each run.
//   Steps    2
//   Bytes    a rank reads r + p/r cache lines, with runs of r ranks; as many ranks read a line
//   Wins     many ranks: flat has p readers of each line, one after another
//   Needs    slots (their flags)
#include "algorithms/functions.h"
#include "algorithms/runs.h"

namespace sumac::barrier {

Task two_steps(Strand& strand, ShmGroup& group, const ReduceArguments&) {
  const Runs runs(FoldOrder::of_group(group.size()), group.rank());
  const std::uint64_t first = group.take(2), second = first + 1;
  co_await strand.until(group.slot_free(second));
  group.publish_in(first);
  group.prefetch_next_slot(first);
  for (int i = 0; i < runs.members(); ++i) {
    const int r = runs.member(i);
    if (r != group.rank()) co_await strand.until(group.in(r, first));
  }
  group.publish_in(second);
  group.prefetch_next_slot(second);
  for (int i = 0; i < runs.count(); ++i) {
    const int r = runs.partner(i);
    if (r != group.rank()) co_await strand.until(group.in(r, second));
  }
  group.finish(first);
  group.finish(second);
  group.note_finished_before(first);
}

Traffic two_steps_cost(const GroupCall& call) {
  return through_lines(2, call.bytes, call.ranks - 1, {});
}

}  // namespace sumac::barrier
