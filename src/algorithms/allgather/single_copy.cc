// SPDX-License-Identifier: BSD-3-Clause
// All-gather by single copy. Every rank fetches the others' parts straight from their inputs, the
// next rank's first, so that no two read from one at the same time.
//   Steps    2: addresses out, all parts fetched
//   Bytes    a rank fetches n(p-1)/p
//   Wins     large messages
//   Needs    access to peers' memory
#include "algorithms/single_copy.h"
#include "algorithms/functions.h"

namespace sumac::allgather {

Task single_copy(Strand& strand, ShmGroup& group, const AllgatherArguments& args,
                 const SingleCopy& peers) {
  const std::uint64_t position = group.take(1, relay_use(group));
  co_await strand.until(group.slot_free(position));
  show_buffers(group, position, {args.input.at(), nullptr});
  args.keep_own(group.rank());
  for (int i = 1; i < group.size(); ++i) {
    const int from = (group.rank() + i) % group.size();
    co_await strand.until(group.in(from, position));
    const Part part = args.parts[from];
    fetch_into(peers, from, buffers_of(group, from, position).input, args.output + part.offset,
               part.bytes);
  }
  if (peers.refusals->any()) [[unlikely]]
    group.mark_refused(group.rank(), position);
  group.publish_out(position);
  // The others read this rank's input until then.
  co_await strand.until(group.others_out(position));
  if (group.any_refused(position)) [[unlikely]]
    co_await relay_all(strand, group, position, *peers.refusals);
  group.finish(position);
  group.note_finished_before(position);
}

Traffic single_copy_cost(const GroupCall& call) {
  return by_attach(call.ranks, others_parts(call), call.ranks - 1, {call.ranks - 1});
}

}  // namespace sumac::allgather
