// SPDX-License-Identifier: BSD-3-Clause
// All-reduce over slots, the work split. Each chunk is divided into one part a rank: a rank copies
// the others' parts into its slot, folds its own part of all ranks' slots, leaves the result in its
// slot, and copies the other parts' results out. The three stages of consecutive chunks overlap.
//   Steps    2 a chunk (inputs in, results out), pipelined
//   Bytes    a rank copies 2n(p-1)/p and folds n in all: p times less arithmetic than flat
//   Wins     medium and large messages where single copy is not available
//   Needs    slots, a ring of 4 or more. Every element is reduced once, by one rank: same bits
#include "algorithms/functions.h"
#include "algorithms/slots.h"

namespace sumac::allreduce {

Task split_slots(Strand& strand, ShmGroup& group, const ReduceArguments& args) {
  const SplitChunks cut(group, args.bytes(), args.unit);
  const std::size_t steps = cut.steps();
  const std::uint64_t first = group.take(steps);
  for (std::size_t step = 0; step < steps + 2; ++step) {
    if (step < steps) {
      co_await strand.until(group.slot_free(first + step));
      put_for_others(group, first + step, args.input, cut, step);
      group.publish_in(first + step);
    }
    if (step >= 1 && step - 1 < steps) {
      const std::uint64_t position = first + step - 1;
      co_await strand.until(group.others_in(position));
      const Piece own = cut.piece(step - 1, group.rank());
      std::byte* result = group.payload(group.rank(), position, cut.room()) + own.place;
      fold_piece(group, position, args, own, cut.room(), result);
      std::memcpy(args.output + own.offset, result, own.bytes);
      group.publish_out(position);
    }
    if (step >= 2) {
      const std::uint64_t position = first + step - 2;
      co_await strand.until(group.others_out(position));
      take_from_others(group, position, args.output, cut, step - 2);
      group.finish(position);
      // A result is published one stage before the chunk ahead of it is copied out.
      if (step > 2) group.note_finished_before(position - 1);
    }
  }
}

Traffic split_slots_cost(const GroupCall& call) {
  return traffic_in_memory(chunks_in_slots(call) + 1, call.bytes + 2 * others_parts(call));
}

}  // namespace sumac::allreduce
