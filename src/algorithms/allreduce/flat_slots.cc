// SPDX-License-Identifier: BSD-3-Clause
// All-reduce, flat over slots. Every rank puts its chunk into its own slot, waits for all others'
// slots and folds them all, in rank order, into its own result.
//   Steps    1 a chunk, no entry or exit barrier
//   Bytes    a rank writes n and reads p*n; p*n element operations on every rank
//   Wins     small messages, where the one cache-line transfer is all that counts
//   Needs    slots. Every rank folds in the same order: same bits on all
#include "algorithms/algorithms.h"
#include "algorithms/chunks.h"
#include "algorithms/fold.h"
#include "algorithms/slot_data.h"

namespace sumac::allreduce {

Task flat_slots(Strand& strand, ShmGroup& group, const ReduceArguments& args) {
  const Chunks chunks(args.bytes(), group.slot_bytes(), kCacheLine);
  const std::uint64_t first = group.take(chunks.count());
  for (std::size_t c = 0; c < chunks.count(); ++c) {
    const std::uint64_t position = first + c;
    const Part part = chunks[c];
    co_await strand.until(group.slot_free(position));
    std::memcpy(slot_data(group, group.rank(), position, part.bytes), args.input + part.offset,
                part.bytes);
    group.publish_in(position);
    group.prefetch_next_slot(position);
    co_await strand.until(group.others_in(position));
    fold(args.kernel, args.output + part.offset, group.size(), part.bytes / args.element,
         args.element, [&](int r) { return slot_data(group, r, position, part.bytes); });
    group.finish(position);
    group.note_finished_before(position);
  }
}

}  // namespace sumac::allreduce
