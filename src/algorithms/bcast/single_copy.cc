// SPDX-License-Identifier: BSD-3-Clause
// Broadcast by single copy. Every other rank fetches the message from the root's buffer. The root
// stores some of it into theirs, so that it does its share, and a rank that would only wait copies
// what a busy rank has left. A rank whose buffer has gaps fetches everything itself, and unpacks
// piece by piece. Nobody can fetch from a root whose buffer has gaps, so the message then goes
// through its slots, as it does if the root has met refusals.
//   Steps    2: addresses out, copies done; as in slots.cc if the root's buffer has gaps
//   Bytes    every rank moves n(p-1)/p: between two ranks both move half
//   Wins     large messages
//   Needs    access to peers' memory; slots; that no other operation takes positions before the
//            ranks know whether this one needs slots
#include "algorithms/bcast/shares.h"
#include "algorithms/functions.h"

namespace sumac::bcast {

Task single_copy(Strand& strand, ShmGroup& group, const BcastArguments& args,
                 const SingleCopy& peers) {
  const std::uint64_t position = group.take_first(relay_use(group));
  co_await strand.until(group.slot_free(position));
  const bool root_avoids = peers.avoid && group.rank() == args.root && group.slot_bytes() > 0;
  std::byte* const buffer = args.buffer.contiguous() && !root_avoids ? args.buffer.at() : nullptr;
  show_buffers(group, position, {buffer, buffer});
  co_await strand.until(group.in(args.root, position));
  const bool through_slots = buffers_of(group, args.root, position).input == 0;
  // If no data have gaps, slots may have no room for any.
  const std::uint64_t first = through_slots ? take_slots(group, args) : group.take(0);
  if (!through_slots) co_await copy_shares(strand, group, args, peers, position, {0, args.bytes});
  group.finish(position);
  if (through_slots) co_await go_through_slots(strand, group, args, first);
}

Traffic single_copy_cost(const GroupCall& call) {
  return by_attach(call.ranks, others_parts(call), 1, {1, call.ranks - 1});
}

}  // namespace sumac::bcast
