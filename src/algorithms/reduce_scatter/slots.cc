// SPDX-License-Identifier: BSD-3-Clause
// Reduce-scatter over slots. Step by step every rank copies a piece of all others' parts into its
// slot and folds a piece of its own part of all ranks' slots; it copies the next pieces in before
// it waits for the others' last ones.
//   Steps    1 a slot, pipelined, no entry or exit barrier
//   Bytes    a rank copies n(p-1)/p, reads as much and folds n in all
//   Wins     medium messages, and large ones where single copy is not available
//   Needs    slots, a ring of 3 or more
#include "algorithms/slots.h"
#include "algorithms/functions.h"

namespace sumac::reduce_scatter {

Task slots(Strand& strand, ShmGroup& group, const ReduceScatterArguments& args) {
  const SpreadParts cut(args.parts, group.divided_payload(), args.unit);
  const std::size_t steps = cut.steps();
  const std::uint64_t first = group.take(steps, {.room = cut.room()});
  for (std::size_t step = 0; step <= steps; ++step) {
    if (step < steps) {
      co_await strand.until(group.slot_free(first + step));
      put_for_others(group, first + step, args.input, cut, step);
      group.publish_in(first + step);
    }
    if (step == 0) continue;
    const std::uint64_t position = first + step - 1;
    const Piece own = cut.piece(step - 1, group.rank());
    if (own.bytes > 0) {
      co_await strand.until(group.others_in(position));
      const std::size_t done = own.offset - args.parts[group.rank()].offset;
      fold_piece(group, position, args, own, args.output + done);
    }
    group.finish(position);
    // Others may have put these pieces in before they folded the ones ahead of them.
    if (step > 1 && own.bytes > 0) group.note_finished_before(position - 1);
  }
}

Traffic slots_cost(const GroupCall& call) {
  const std::uint64_t steps = SpreadParts(call.parts(), divided_chunk(call), kCacheLine).steps();
  return through_slots(call.ranks, steps, 2 * others_parts(call), call.ranks - 1);
}

}  // namespace sumac::reduce_scatter
