// SPDX-License-Identifier: BSD-3-Clause
// All-to-all over slots. Step by step every rank copies the next piece of its row into its slot,
// and its blocks out of the slots of the ranks that have put them there: where a block fills a slot
// or more, of one rank in each step. It copies the next piece in before it waits for the others'
// last ones.
//   Steps    1 a slot of the row, pipelined, no entry or exit barrier
//   Bytes    a rank writes p-1 blocks and reads p-1
//   Wins     medium messages, and wherever single copy is not available
//   Needs    slots, a ring of 3 or more
#include "algorithms/slots.h"
#include "algorithms/functions.h"
#include "algorithms/rows.h"

namespace sumac::alltoall {

Task slots(Strand& strand, ShmGroup& group, const AlltoallArguments& args) {
  const int ranks = group.size();
  const std::size_t bytes = row_bytes(args, group.rank());
  if (bytes == 0) {
    args.keep_own(group.rank());
    co_return;
  }
  const std::size_t block = bytes / static_cast<std::size_t>(ranks - 1);
  const Chunks chunks = slot_chunks(bytes, group.slot_bytes());
  const std::uint64_t first = group.take(chunks.count());
  Row row(args, group.rank());
  for (std::size_t step = 0; step <= chunks.count(); ++step) {
    if (step < chunks.count()) {
      const std::uint64_t position = first + step;
      co_await strand.until(group.slot_free(position));
      std::byte* const slot = group.payload(group.rank(), position, chunks.most());
      row.take(chunks[step].bytes, [&](const ConstBytes& from, std::size_t at, std::size_t n) {
        put(group, position, from, slot + at, n);
      });
      group.publish_in(position);
    }
    if (step == 0) {
      args.keep_own(group.rank());
      continue;
    }
    const Part chunk = chunks[step - 1];
    const std::uint64_t position = first + step - 1;
    for (std::size_t d = chunk.offset / block; d * block < chunk.offset + chunk.bytes; ++d) {
      const int from = rank_before(group.rank(), static_cast<int>(d) + 1, ranks);
      co_await strand.until(group.in(from, position));
      take_block(group, position, from, chunk, chunks.most(), {d * block, block},
                 args.output + args.received[from].offset);
    }
    group.finish(position);
  }
  // Every other rank has begun this call.
  group.note_finished_before(first);
}

Traffic slots_cost(const GroupCall& call) {
  const std::uint64_t row = others_parts(call);
  return traffic_in_memory(slot_chunks(row, Layout{}.slot_bytes).count(), 2 * row);
}

}  // namespace sumac::alltoall
