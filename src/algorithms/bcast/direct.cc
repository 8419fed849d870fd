// SPDX-License-Identifier: BSD-3-Clause
// Broadcast in place. Every other rank copies the message out of the root's buffer. The root copies
// some of it into theirs, so that it does its share, and a rank that would only wait copies what a
// busy rank has left.
//   Steps    3: addresses out, edges out, copies done
//   Bytes    every rank moves n(p-1)/p: between two ranks both move half
//   Wins     from some pages on, wherever buffers are used again and again
//   Needs    buffers of all ranks mapped by all
#include "algorithms/direct.h"
#include "algorithms/bcast/shares.h"
#include "algorithms/functions.h"

namespace sumac::bcast {

Task direct(Strand& strand, ShmGroup& group, const BcastArguments& args, const SingleCopy& peers,
            const Direct& direct) {
  const std::uint64_t position = direct.position;
  const Part inside = direct.inside;
  const Edges edges(args.bytes, inside);
  const bool root = group.rank() == args.root;
  if (root) edges.show(group, position, args.buffer);
  co_await copy_shares(strand, group, args, peers, position, inside);
  if (!root && edges.bytes() > 0) {
    co_await strand.until(group.out(args.root, position));
    edges.take(group, position, args.root, {0, args.bytes}, args.buffer);
  }
  group.finish(position);
}

Traffic direct_cost(const GroupCall& call) { return in_place(call.ranks, others_parts(call), 1); }

}  // namespace sumac::bcast
