// SPDX-License-Identifier: BSD-3-Clause
// Reduce over slots, with split work. It works like the all-reduce of that name, but only the root
// copies the results out: each rank folds its own part of every chunk and leaves the result in its
// slot.
//   Steps    2 a chunk, pipelined
//   Bytes    a rank copies n(p-1)/p and folds n in all; the root copies n(p-1)/p more
//   Wins     medium messages of three ranks and more, and large ones where single copy is not
//            available
//   Needs    slots, a ring of 4 or more
#include "algorithms/functions.h"
#include "algorithms/slots.h"

namespace sumac::reduce {

Task split_slots(Strand& strand, ShmGroup& group, const ReduceArguments& args) {
  const SplitChunks cut(group.size(), args.bytes(), group.divided_payload(), args.unit);
  const std::size_t steps = cut.steps();
  const bool root = group.rank() == args.root;
  const std::uint64_t first = group.take(steps, {.room = cut.room(), .results = true});
  // The root copies one step later, while the others fold the next chunk.
  for (std::size_t step = 0; step < steps + (root ? 2 : 1); ++step) {
    if (step < steps) {
      co_await strand.until(group.slot_free(first + step));
      put_for_others(group, first + step, args.input, cut, step);
      group.publish_in(first + step);
    }
    if (step >= 1 && step - 1 < steps) {
      const std::uint64_t position = first + step - 1;
      co_await strand.until(group.others_in(position));
      const Piece own = cut.piece(step - 1, group.rank());
      std::byte* const slot = group.payload(group.rank(), position);
      fold_piece(group, position, args, own, root ? args.output + own.offset : slot + own.place);
      group.publish_out(position);
      if (!root) group.finish(position);
    }
    if (root && step >= 2) {
      co_await strand.until(group.others_out(first + step - 2));
      take_from_others(group, first + step - 2, args.output, cut, step - 2);
      group.finish(first + step - 2);
    }
  }
}

Traffic split_slots_cost(const GroupCall& call) {
  // The root is the busiest.
  return through_slots(call.ranks, divided_chunks(call) + 1, call.bytes + 2 * others_parts(call),
                       call.ranks - 1);
}

}  // namespace sumac::reduce
