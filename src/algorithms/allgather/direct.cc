// SPDX-License-Identifier: BSD-3-Clause
// All-gather in place. Every rank copies the others' parts out of their inputs, the next rank's
// first, so that no two read from one at the same time.
//   Steps    3: addresses out, edges out, all parts copied
//   Bytes    a rank reads n(p-1)/p
//   Wins     from some pages on, wherever buffers are used again and again
//   Needs    inputs of all ranks mapped by all
#include "algorithms/direct.h"
#include "algorithms/functions.h"

namespace sumac::allgather {
namespace {

Part inside_of_part(const ShmGroup& group, const AllgatherArguments& args, const Direct& direct,
                    int owner) {
  const std::uintptr_t input = buffers_of(group, owner, direct.position).input;
  return inside_of(input, args.parts[owner].bytes, direct.page);
}

}  // namespace

Task direct(Strand& strand, ShmGroup& group, const AllgatherArguments& args,
            const SingleCopy& peers, const Direct& direct) {
  const std::uint64_t position = direct.position;
  const int ranks = group.size(), own = group.rank();
  const Edges edges(args.parts[own].bytes, inside_of_part(group, args, direct, own));
  edges.show(group, position, args.input);
  args.keep_own(own);
  for (int i = 1; i < ranks; ++i) {
    const int from = (own + i) % ranks;
    const Part inside = inside_of_part(group, args, direct, from);
    std::byte* const to = args.output.at() + args.parts[from].offset;
    const std::uintptr_t input = buffers_of(group, from, position).input;
    fetch_into(peers, from, input + inside.offset, to + inside.offset, inside.bytes);
    const Edges theirs(args.parts[from].bytes, inside);
    if (theirs.bytes() == 0) continue;
    co_await strand.until(group.out(from, position));
    theirs.take(group, position, from, {0, args.parts[from].bytes}, to);
  }
  co_await end_fetching(strand, group, position, peers);
}

Traffic direct_cost(const GroupCall& call) {
  return in_place(call.ranks, others_parts(call), call.ranks - 1);
}

}  // namespace sumac::allgather
