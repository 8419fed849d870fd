// SPDX-License-Identifier: BSD-3-Clause
// Reduce along a chain: each rank folds what comes from the next one after its own data and passes
// the result on towards the root. Chunk after chunk it is a pipeline: levels call it so.
//   Steps    p-1 for the first chunk, one for each other
//   Bytes    a rank sends n once and receives n once
//   Wins     large messages: every link carries n
//   Needs    messages, scratch of 2n bytes
#include <cstring>

#include "algorithms/messages.h"

namespace sumac::reduce {

Task chain(Strand& strand, MessageGroup& group, const ReduceArguments& args) {
  const int p = group.size;
  const int place = (group.rank - args.root + p) % p;
  const int towards = (group.rank + p - 1) % p, behind = (group.rank + 1) % p;
  const std::byte* own = args.input;
  if (place + 1 < p) {
    std::byte* result = place == 0 ? args.output : group.scratch + args.bytes();
    group.receive(behind, group.scratch, args.bytes());
    co_await strand.until(group.stream->all_received());
    fold_two(args, args.input, group.scratch, result, args.count);
    own = result;
  }
  if (place > 0) {
    group.send(towards, own, args.bytes());
    co_await strand.until(group.stream->all_sent());
  } else if (own != args.output) {
    std::memcpy(args.output, own, args.bytes());
  }
}

}  // namespace sumac::reduce
