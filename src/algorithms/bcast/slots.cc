// SPDX-License-Identifier: BSD-3-Clause
// Broadcast through the root's slots. The root copies chunk by chunk in, all others copy out.
//   Steps    1 a chunk, pipelined as deep as the ring; the root does not wait for the others
//   Bytes    the root writes n, each other rank reads n and writes n
//   Wins     medium messages, and wherever single copy is not available
//   Needs    slots
#include "algorithms/slots.h"
#include "algorithms/bcast/shares.h"
#include "algorithms/functions.h"

namespace sumac::bcast {

std::uint64_t take_slots(ShmGroup& group, const BcastArguments& args) {
  const Chunks chunks = slot_chunks(args.bytes, group.slot_bytes());
  return group.take(chunks.count(), {.room = chunks.most()});
}

Task go_through_slots(Strand& strand, ShmGroup& group, const BcastArguments& args,
                      std::uint64_t first) {
  const Chunks chunks = slot_chunks(args.bytes, group.slot_bytes());
  const bool root = group.rank() == args.root;
  for (std::size_t c = 0; c < chunks.count(); ++c) {
    const std::uint64_t position = first + c;
    const Part part = chunks[c];
    std::byte* slot = group.payload(args.root, position);
    if (root) {
      co_await strand.until(group.slot_free(position));
      put(group, position, args.buffer + part.offset, slot, part.bytes);
      group.publish_in(position);
    } else {
      co_await strand.until(group.in(args.root, position));
      group.read(position, part.bytes,
                 [&] { (args.buffer + part.offset).copy_from_peer(slot, part.bytes); });
    }
    group.finish(position);
  }
}

Task slots(Strand& strand, ShmGroup& group, const BcastArguments& args) {
  co_await go_through_slots(strand, group, args, take_slots(group, args));
}

Traffic slots_cost(const GroupCall& call) {
  return through_slots(call.ranks, chunks_in_slots(call), call.bytes, 1);
}

}  // namespace sumac::bcast
