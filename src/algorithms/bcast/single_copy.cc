// SPDX-License-Identifier: BSD-3-Clause
// Broadcast by single copy. Every other rank fetches the message from the root's buffer; the root
// stores some of it into theirs, so that it does its share, and any rank what one that is busy
// elsewhere leaves.
//   Steps    2: addresses out, copies done
//   Bytes    every rank moves n(p-1)/p: between two ranks both move half
//   Wins     large messages
//   Needs    access to peers' memory
#include "algorithms/bcast/shares.h"
#include "algorithms/functions.h"

namespace sumac::bcast {

Task single_copy(Strand& strand, ShmGroup& group, const BcastArguments& args,
                 const SingleCopy& peers) {
  const std::uint64_t position = group.take(1);
  co_await strand.until(group.slot_free(position));
  std::byte* const buffer = args.buffer.at();
  show_buffers(group, position, {buffer, buffer});
  co_await copy_shares(strand, group, args, peers, position, {0, args.bytes});
  group.finish(position);
}

Traffic single_copy_cost(const GroupCall& call) { return traffic_in_memory(2, others_parts(call)); }

}  // namespace sumac::bcast
