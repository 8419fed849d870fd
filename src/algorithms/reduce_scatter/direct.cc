// SPDX-License-Identifier: BSD-3-Clause
// Reduce-scatter in place. Each rank folds its part from all ranks' inputs into its output.
//   Steps    3: addresses out, edges out, all parts done
//   Bytes    a rank reads n(p-1)/p of others and folds n in all
//   Wins     from some pages on, wherever buffers are used again and again
//   Needs    inputs of all ranks mapped by all
#include "algorithms/direct.h"
#include "algorithms/functions.h"

namespace sumac::reduce_scatter {
namespace {

// The part of a vector that both ranges have, if any.
Part common(Part a, Part b) {
  const std::size_t from = std::max(a.offset, b.offset);
  const std::size_t to = std::min(a.offset + a.bytes, b.offset + b.bytes);
  return {from, to > from ? to - from : 0};
}

}  // namespace

Task direct(Strand& strand, ShmGroup& group, const ReduceScatterArguments& args,
            const SingleCopy& peers, const Direct& direct) {
  const std::uint64_t position = direct.position;
  const Edges edges(args.bytes(), direct.inside);
  edges.show(group, position, args.input);
  const Part own = args.parts[group.rank()];
  const Part inside = common(own, direct.inside);
  if (inside.bytes > 0) {
    fold_from_peers(group, args, peers, position, inside,
                    args.output + (inside.offset - own.offset),
                    [](std::size_t, const std::byte*, std::size_t) {});
  }
  if (edges.bytes() > 0) {
    co_await strand.until(group.others_out(position));
    edges.fold_into(group, position, args, own, args.output);
  }
  const Claims all(group, position, 1);
  all.note_done(group.rank());
  // The others read this rank's input until then.
  co_await strand.until(all.all_done());
  group.finish(position);
  group.note_finished_before(position);
}

Traffic direct_cost(const GroupCall& call) { return traffic_in_memory(3, others_parts(call)); }

}  // namespace sumac::reduce_scatter
