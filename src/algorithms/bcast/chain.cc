// SPDX-License-Identifier: BSD-3-Clause
// Broadcast along a chain, each rank passing on to the next. Chunk after chunk it is a pipeline:
// levels call it so.
//   Steps    p-1 for the first chunk, one for each other
//   Bytes    a rank sends n once
//   Wins     large messages: every link carries n
//   Needs    messages
#include "algorithms/messages.h"

namespace sumac::bcast {

Task chain(Strand& strand, MessageGroup& group, const BcastArguments& args) {
  const int p = group.size;
  const int place = (group.rank - args.root + p) % p;
  if (place > 0) {
    group.receive((group.rank + p - 1) % p, args.buffer, args.bytes);
    co_await strand.until(group.stream->all_received());
  }
  if (place + 1 < p) {
    group.send((group.rank + 1) % p, args.buffer, args.bytes);
    co_await strand.until(group.stream->all_sent());
  }
}

}  // namespace sumac::bcast
