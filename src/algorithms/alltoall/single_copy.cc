// SPDX-License-Identifier: BSD-3-Clause
// All-to-all by single copy. Every rank fetches its blocks straight from the others' inputs,
// beginning with the rank before it, so that no two read from one at the same time. The row of a
// rank whose input has gaps, or which has met refusals, goes through its slots: packing the whole
// row first takes twice as long (4 MiB of every second double between two ranks, Zen 4).
//   Steps    2: addresses out, all blocks fetched; 1 more for each slot of the row if one has gaps
//   Bytes    a rank fetches p-1 blocks, or writes p-1 blocks and reads p-1
//   Wins     large messages
//   Needs    access to peers' memory; slots, a ring of 3 or more; that no other operation takes
//            positions before the ranks know whether this one needs slots
#include "algorithms/single_copy.h"

#include <algorithm>
#include <vector>

#include "algorithms/alltoall/rows_in_slots.h"
#include "algorithms/functions.h"

namespace sumac::alltoall {

Task single_copy(Strand& strand, ShmGroup& group, const AlltoallArguments& args,
                 const SingleCopy& peers) {
  if (row_bytes(args, group.rank()) == 0) {
    args.keep_own(group.rank());
    group.take(0);  // alltoall:direct may have taken a first one
    co_return;
  }
  const std::uint64_t position = group.take_first(relay_use(group));
  const bool fetched = args.input.contiguous() && !(peers.avoid && group.slot_bytes() > 0);
  co_await strand.until(group.slot_free(position));
  show_buffers(group, position, {fetched ? args.input.at() : nullptr, nullptr});
  args.keep_own(group.rank());
  const Part own = args.sent[group.rank()];  // it is at the same place in all ranks' inputs
  std::vector<bool> in_slots(static_cast<std::size_t>(group.size()));
  in_slots[static_cast<std::size_t>(group.rank())] = !fetched;
  for (int distance = 1; distance < group.size(); ++distance) {
    const int from = rank_before(group.rank(), distance, group.size());
    co_await strand.until(group.in(from, position));
    const std::uintptr_t input = buffers_of(group, from, position).input;
    in_slots[static_cast<std::size_t>(from)] = input == 0;
    if (input == 0) continue;
    fetch_into(peers, from, input + own.offset, args.output + args.received[from].offset,
               own.bytes);
  }
  const Claims all_fetched(group, position, 1);
  if (peers.refusals->any()) [[unlikely]]
    group.mark_refused(group.rank(), position);
  all_fetched.note_done(group.rank());
  // All ranks have seen the same in_slots.
  const bool any = std::find(in_slots.begin(), in_slots.end(), true) != in_slots.end();
  const bool all = std::find(in_slots.begin(), in_slots.end(), false) == in_slots.end();
  const std::uint64_t first = any ? take_rows(group, args) : group.take(0);
  // The others read this rank's input until then.
  if (!all) co_await strand.until(all_fetched.all_done());
  if (!all && group.any_refused(position)) [[unlikely]]
    co_await relay_all(strand, group, position, *peers.refusals);
  group.finish(position);
  if (any) {
    const auto gives = [&](int rank) { return in_slots[static_cast<std::size_t>(rank)]; };
    co_await bring_rows(strand, group, args, first, gives, [] {});
  }
  group.note_finished_before(position);
}

Traffic single_copy_cost(const GroupCall& call) {
  return by_attach(call.ranks, others_parts(call), call.ranks - 1, {call.ranks - 1});
}

}  // namespace sumac::alltoall
