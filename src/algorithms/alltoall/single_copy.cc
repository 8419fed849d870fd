// SPDX-License-Identifier: BSD-3-Clause
// All-to-all by single copy. Every rank fetches its blocks straight from the others' inputs, that
// of the rank before it first, so that no two read from one at the same time. The row of a rank
// whose input has gaps goes through its slots: to pack the whole of it first takes twice as long
// (4 MiB of every second double between two ranks, Zen 4).
//   Steps    2: addresses out, all blocks fetched; 1 a slot of the row more where one has gaps
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
    co_return;
  }
  const std::uint64_t position = group.take_first({.results = true});
  const bool fetched = args.input.contiguous();
  co_await strand.until(group.slot_free(position));
  show_buffers(group, position, {fetched ? args.input.at() : nullptr, nullptr});
  args.keep_own(group.rank());
  const Part own = args.sent[group.rank()];  // at the same place in all ranks' inputs
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
  // Not a flag: others may have gone round the ring when this rank looks.
  const Claims all_fetched(group, position, 1);
  all_fetched.note_done(group.rank());
  group.finish(position);
  // All ranks have seen the same.
  const bool any = std::find(in_slots.begin(), in_slots.end(), true) != in_slots.end();
  const std::uint64_t first = any ? take_rows(group, args) : group.take(0);
  if (any) {
    const auto gives = [&](int rank) { return in_slots[static_cast<std::size_t>(rank)]; };
    co_await bring_rows(strand, group, args, first, gives, [] {});
  }
  // The others read this rank's input until then.
  if (fetched) co_await strand.until(all_fetched.all_done());
  group.note_finished_before(position);
}

Traffic single_copy_cost(const GroupCall& call) { return traffic_in_memory(2, others_parts(call)); }

}  // namespace sumac::alltoall
