// SPDX-License-Identifier: BSD-3-Clause
// Reduce-scatter in place. Each rank folds its part from all ranks' inputs into its output.
//   Steps    3: addresses out, edges out, all parts done
//   Bytes    a rank reads n(p-1)/p of others and folds n in all
//   Wins     from some pages on, wherever buffers are used again and again
//   Needs    inputs of all ranks mapped by all
#include "algorithms/direct.h"
#include "algorithms/functions.h"

namespace sumac::reduce_scatter {

Task direct(Strand& strand, ShmGroup& group, const ReduceScatterArguments& args,
            const SingleCopy& peers, const Direct& direct) {
  const std::uint64_t position = direct.position;
  const Edges edges(args.bytes(), direct.inside);
  edges.show(group, position, args.input);
  const Part own = args.parts[group.rank()];
  const Part inside = common(own, direct.inside);
  const auto formed = [&](Part part) { return args.output + (part.offset - own.offset); };
  const auto keep = [](std::size_t, const std::byte*, std::size_t) {};
  const ShownInput input{group, position};
  const int rank = group.rank();
  Part rest{};
  if (inside.bytes > 0) {
    rest = fold_from(args, peers, group.fold_order(), rank, inside, input, formed(inside), keep);
  }
  if (edges.bytes() > 0) {
    co_await strand.until(group.others_out(position));
    edges.fold_into(group, position, args, own, args.output);
  }
  const Claims all(group, position, 1);
  if (rest.bytes > 0) [[unlikely]]
    group.mark_refused(rank, position);
  all.note_done(rank);
  // The others read this rank's input until then.
  co_await strand.until(all.all_done());
  if (group.any_refused(position)) [[unlikely]] {
    peers.refusals->note_agreed();
    Relay relay(group, position);
    co_await relay_turn(strand, relay);
    co_await fold_by_relay(strand, relay, args, peers, group.fold_order(), rank, rest, input,
                           formed(rest), keep);
    co_await end_turn(strand, relay);
  }
  group.finish(position);
  group.note_finished_before(position);
}

Traffic direct_cost(const GroupCall& call) {
  return in_place(call.ranks, others_parts(call), call.ranks - 1);
}

}  // namespace sumac::reduce_scatter
