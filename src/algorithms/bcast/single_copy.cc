// SPDX-License-Identifier: BSD-3-Clause
// Broadcast by single copy. Every other rank fetches the first (p-1)/p of the message from the
// root's buffer; meanwhile the root stores the last 1/p of it into theirs, so that it does its
// share.
//   Steps    2: addresses out, copies done
//   Bytes    every rank moves n(p-1)/p: between two ranks both move half
//   Wins     large messages
//   Needs    access to peers' memory
#include "algorithms/single_copy.h"
#include "algorithms/algorithms.h"

namespace sumac::bcast {

Task single_copy(Strand& strand, ShmGroup& group, const BcastArguments& args,
                 const SingleCopy& peers) {
  const int ranks = group.size();
  const bool root = group.rank() == args.root;
  const std::uint64_t position = group.take(1);
  co_await strand.until(group.slot_free(position));
  show_buffers(group, position, args.buffer, args.buffer);

  const Part pushed = part_of(args.bytes, ranks, ranks - 1);
  if (root) {
    for (int r = 0; r < ranks; ++r) {
      if (r == args.root) continue;
      co_await strand.until(group.in(r, position));
      const std::uintptr_t to = buffers_of(group, r, position).output;
      if (!peers.memory->write(r, to + pushed.offset, args.buffer + pushed.offset, pushed.bytes)) {
        *peers.failed = true;
      }
    }
    group.publish_out(position);
    co_await strand.until(group.others_out(position));
  } else {
    co_await strand.until(group.in(args.root, position));
    const std::uintptr_t from = buffers_of(group, args.root, position).input;
    if (!peers.memory->read(args.root, from, args.buffer, pushed.offset)) *peers.failed = true;
    group.publish_out(position);
    co_await strand.until(group.out(args.root, position));
  }
  group.finish(position);
}

}  // namespace sumac::bcast
