// SPDX-License-Identifier: BSD-3-Clause
// Reduce, flat over slots. Every other rank puts its chunks into its slots and leaves; the root
// folds them, in the group's order, with its own input.
//   Steps    1 a chunk, pipelined as deep as the ring; non-roots do not wait for the root
//   Bytes    a non-root writes n; the root reads p*n and does all the arithmetic
//   Wins     messages of some KiB among three ranks and more; all that do not fit lines between two
//            ranks, and where ranks share processors
//   Needs    slots
#include "algorithms/functions.h"
#include "algorithms/slots.h"

namespace sumac::reduce {
namespace {

Task give(Strand& strand, ShmGroup& group, const ReduceArguments& args, Chunks chunks) {
  const std::uint64_t first = group.take(chunks.count(), {.room = chunks.most()});
  for (std::size_t c = 0; c < chunks.count(); ++c) {
    const Part part = chunks[c];
    co_await strand.until(group.slot_free(first + c));
    group.store(first + c, group.payload(group.rank(), first + c), args.input + part.offset,
                part.bytes);
    group.publish_in(first + c);
    group.finish(first + c);
  }
}

Task collect(Strand& strand, ShmGroup& group, const ReduceArguments& args, Chunks chunks) {
  const std::uint64_t first = group.take(chunks.count(), {.room = chunks.most()});
  for (std::size_t c = 0; c < chunks.count(); ++c) {
    const Part part = chunks[c];
    for (int r = 0; r < group.size(); ++r) {
      if (r != args.root) co_await strand.until(group.in(r, first + c));
    }
    fold_piece(group, first + c, args, {part.offset, part.bytes, 0}, args.output + part.offset);
    group.finish(first + c);
  }
}

}  // namespace

Task flat_slots(Strand& strand, ShmGroup& group, const ReduceArguments& args) {
  const Chunks chunks = slot_chunks(args.bytes(), group.slot_bytes(), args.unit);
  return group.rank() == args.root ? collect(strand, group, args, chunks)
                                   : give(strand, group, args, chunks);
}

Traffic flat_slots_cost(const GroupCall& call) {
  // The root is the busiest.
  return through_slots(call.ranks, chunks_in_slots(call), others_vectors(call), call.ranks - 1);
}

}  // namespace sumac::reduce
