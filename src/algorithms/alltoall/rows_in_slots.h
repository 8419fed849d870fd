// SPDX-License-Identifier: BSD-3-Clause
// Rows of equal blocks go through slots step by step. Every rank that gives a row copies the next
// piece of it into its slot, and takes its blocks out of the slots of the ranks that have put them
// there. If a block fills a slot or more, it takes from one rank in each step. It copies the next
// piece in before it waits for the others' last ones.
#pragma once

#include "algorithms/rows.h"
#include "algorithms/slots.h"
#include "strands/task.h"

namespace sumac::alltoall {

// Returns the pieces of a row, each of which takes a position.
inline Chunks row_chunks(const ShmGroup& group, const AlltoallArguments& args) {
  return slot_chunks(row_bytes(args, group.rank()), group.divided_payload());
}

// Takes the positions that a row needs. Returns the first.
inline std::uint64_t take_rows(ShmGroup& group, const AlltoallArguments& args) {
  const Chunks chunks = row_chunks(group, args);
  return group.take(chunks.count(), {.room = chunks.most()});
}

// Brings the rows of the ranks for which gives(rank) is true to all others, from position `first`
// on. All ranks finish all positions. meanwhile() is called when this rank's first piece is there
// for the others and theirs are on their way.
template <class Gives, class Meanwhile>
Task bring_rows(Strand& strand, ShmGroup& group, const AlltoallArguments& args, std::uint64_t first,
                Gives gives, Meanwhile meanwhile) {
  const int ranks = group.size();
  const Chunks chunks = row_chunks(group, args);
  const std::size_t block = row_bytes(args, group.rank()) / static_cast<std::size_t>(ranks - 1);
  Row row(args, group.rank());
  for (std::size_t step = 0; step <= chunks.count(); ++step) {
    // A rank that gives nothing waits, too, because no rank may finish positions a ring ahead.
    if (step < chunks.count()) co_await strand.until(group.slot_free(first + step));
    if (step < chunks.count() && gives(group.rank())) {
      const std::uint64_t position = first + step;
      std::byte* const slot = group.payload(group.rank(), position);
      row.take(chunks[step].bytes, [&](const ConstBytes& from, std::size_t at, std::size_t n) {
        put(group, position, from, slot + at, n);
      });
      group.publish_in(position);
    }
    if (step == 0) {
      meanwhile();
      continue;
    }
    const Part chunk = chunks[step - 1];
    const std::uint64_t position = first + step - 1;
    for (std::size_t d = chunk.offset / block; d * block < chunk.offset + chunk.bytes; ++d) {
      const int from = rank_before(group.rank(), static_cast<int>(d) + 1, ranks);
      if (!gives(from)) continue;
      co_await strand.until(group.in(from, position));
      take_block(group, position, from, chunk, {d * block, block},
                 args.output + args.received[from].offset);
    }
    group.finish(position);
  }
}

}  // namespace sumac::alltoall
