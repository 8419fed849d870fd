// SPDX-License-Identifier: BSD-3-Clause
// Barrier, flat: every rank raises its flag and waits for all others' flags.
//   Steps    1
//   Bytes    a rank reads p cache lines
//   Wins     few ranks: one transfer deep, where a tree takes log p of them
//   Needs    slots (their flags)
#include "algorithms/functions.h"

namespace sumac::barrier {

Task flat(Strand& strand, ShmGroup& group, const ReduceArguments&) {
  const std::uint64_t position = group.take(1);
  co_await strand.until(group.slot_free(position));
  group.publish_in(position);
  group.prefetch_next_slot(position);
  co_await strand.until(group.others_in(position));
  group.finish(position);
  group.note_finished_before(position);
}

Traffic flat_cost(const GroupCall& call) {
  return through_lines(1, call.bytes, call.ranks - 1, {});
}

}  // namespace sumac::barrier
