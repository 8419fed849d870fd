// SPDX-License-Identifier: BSD-3-Clause
// All-gather over slots. Step by step every rank copies a piece of its part into its slot and all
// others' pieces out; it copies the next piece in before it waits for the others' last ones.
//   Steps    1 a slot of the largest part, pipelined, no entry or exit barrier
//   Bytes    a rank writes its part and reads the others'
//   Wins     medium messages, and wherever single copy is not available
//   Needs    slots, a ring of 3 or more
#include "algorithms/slots.h"
#include "algorithms/functions.h"

namespace sumac::allgather {

Task slots(Strand& strand, ShmGroup& group, const AllgatherArguments& args) {
  const OwnSlots cut(args.parts, group.slot_bytes());
  const std::size_t steps = cut.steps(), own = args.parts[group.rank()].offset;
  const std::uint64_t first = group.take(steps, {.room = cut.room()});
  for (std::size_t step = 0; step <= steps; ++step) {
    if (step < steps) {
      co_await strand.until(group.slot_free(first + step));
      const Piece piece = cut.piece(step, group.rank());
      put(group, first + step, args.input + (piece.offset - own),
          group.payload(group.rank(), first + step), piece.bytes);
      group.publish_in(first + step);
    }
    if (step == 0) {
      args.keep_own(group.rank());
      continue;
    }
    const std::uint64_t position = first + step - 1;
    co_await strand.until(group.others_in(position));
    take_from_others(group, position, args.output, cut, step - 1);
    group.finish(position);
    // Others may have put these pieces in before they copied the ones ahead of them out.
    if (step > 1) group.note_finished_before(position - 1);
  }
}

Traffic slots_cost(const GroupCall& call) {
  const std::uint64_t steps = OwnSlots(call.parts(), Layout{}.slot_bytes).steps();
  return through_slots(call.ranks, steps, call.bytes, call.ranks - 1);
}

}  // namespace sumac::allgather
