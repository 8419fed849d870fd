// SPDX-License-Identifier: BSD-3-Clause
// All-to-all by single copy. Every rank fetches its blocks straight from the others' inputs, that
// of the rank before it first, so that no two read from one at the same time.
//   Steps    2: addresses out, all blocks fetched
//   Bytes    a rank fetches p-1 blocks
//   Wins     large messages
//   Needs    access to peers' memory
#include "algorithms/single_copy.h"
#include "algorithms/functions.h"
#include "algorithms/rows.h"

namespace sumac::alltoall {

Task single_copy(Strand& strand, ShmGroup& group, const AlltoallArguments& args,
                 const SingleCopy& peers) {
  const std::uint64_t position = group.take(1);
  co_await strand.until(group.slot_free(position));
  show_buffers(group, position, {args.input.at(), nullptr});
  args.keep_own(group.rank());
  const Part own = args.sent[group.rank()];  // at the same place in all ranks' inputs
  for (int distance = 1; distance < group.size(); ++distance) {
    const int from = rank_before(group.rank(), distance, group.size());
    co_await strand.until(group.in(from, position));
    const std::uintptr_t input = buffers_of(group, from, position).input;
    fetch_into(peers, from, input + own.offset, args.output + args.received[from].offset,
               own.bytes);
  }
  group.publish_out(position);
  // The others read this rank's input until then.
  co_await strand.until(group.others_out(position));
  group.finish(position);
  group.note_finished_before(position);
}

Traffic single_copy_cost(const GroupCall& call) { return traffic_in_memory(2, others_parts(call)); }

}  // namespace sumac::alltoall
