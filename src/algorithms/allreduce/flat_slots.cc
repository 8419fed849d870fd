// SPDX-License-Identifier: BSD-3-Clause
// All-reduce, flat over slots. Every rank copies its chunks into its slots and folds all ranks'
// slots, in the group's order, into its own result; it copies the next chunk in before it waits for
// the others' last one.
//   Steps    1 a chunk, pipelined, no entry or exit barrier
//   Bytes    a rank copies n and reads p*n; p*n element operations on every rank
//   Wins     between two ranks, while all data fit the caches; up to 64 KiB if the ranks are near
//            one another
//   Needs    slots, a ring of 3 or more. Every rank folds in the same order: same bits on all
#include "algorithms/functions.h"
#include "algorithms/slots.h"

namespace sumac::allreduce {

Task flat_slots(Strand& strand, ShmGroup& group, const ReduceArguments& args) {
  const Chunks chunks = slot_chunks(args.bytes(), group.widest_payload(), args.unit);
  const std::size_t count = chunks.count();
  const std::uint64_t first = group.take(count, {.room = chunks.most()});
  for (std::size_t step = 0; step <= count; ++step) {
    if (step < count) {
      const Part part = chunks[step];
      co_await strand.until(group.slot_free(first + step));
      group.store(first + step, group.payload(group.rank(), first + step), args.input + part.offset,
                  part.bytes);
      group.publish_in(first + step);
    }
    if (step == 0) continue;
    const std::uint64_t position = first + step - 1;
    const Part part = chunks[step - 1];
    co_await strand.until(group.others_in(position));
    fold_piece(group, position, args, {part.offset, part.bytes, 0}, args.output + part.offset);
    group.finish(position);
    // Others may have put this chunk in before they folded the one ahead of it.
    if (step > 1) group.note_finished_before(position - 1);
  }
}

Traffic flat_slots_cost(const GroupCall& call) {
  return through_slots(call.ranks, chunks_in_slots(call), call.bytes + others_vectors(call),
                       call.ranks - 1);
}

}  // namespace sumac::allreduce
