// SPDX-License-Identifier: BSD-3-Clause
// All-to-all of blocks of any sizes. Every rank fetches the blocks of long rows straight from the
// others' inputs. Shorter rows go as in slots.cc. A row's own length decides; its rank tells it the
// others together with the addresses or the first data.
//   Steps    2 where a row is fetched: addresses out, all blocks fetched; as in slots.cc before
//   Bytes    a rank fetches its blocks of long rows, writes its short row and reads the others'
//   Wins     large messages
//   Needs    as slots.cc; access to peers' memory
#include "algorithms/alltoallv/streams.h"

namespace sumac::alltoallv {

Task single_copy(Strand& strand, ShmGroup& group, const AlltoallArguments& args,
                 const SingleCopy& peers) {
  return exchange_rows(strand, group, args, &peers);
}

Traffic single_copy_cost(const GroupCall& call) {
  const std::uint64_t row = others_parts(call);
  const bool fetched = WayOf{call.ranks, Layout{}.slot_bytes, true}(row) == ExchangeWay::fetched;
  if (!fetched) return slots_cost(call);
  return by_attach(call.ranks, row, call.ranks - 1, {call.ranks - 1});
}

}  // namespace sumac::alltoallv
