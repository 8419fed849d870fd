// SPDX-License-Identifier: BSD-3-Clause
// All-gather by recursive doubling. In step k a rank and the one at distance 2^k exchange all that
// they have. Where the number of ranks is no power of two, the first ones begin and end in pairs of
// which one is idle between.
//   Steps    log2 p, two more when p is no power of two
//   Bytes    a rank sends n(p-1)/p, or else up to 2n
//   Wins     medium messages of a power of two of ranks: no copies beside the messages
//   Needs    messages; scratch of n bytes where the parts of the output do not adjoin, or have a
//   layout
// Source: as allreduce/recursive_doubling.cc.
#include "algorithms/halving.h"

namespace sumac::allgather {
namespace {

Task follow(Strand& strand, MessageGroup& group, const AllgatherArguments& args, int pair,
            std::byte* vector) {
  // In place, the data received overwrite the input.
  const std::size_t own = args.parts[group.rank].bytes;
  group.send(pair, args.input.packed(group.scratch, own), own);
  co_await strand.until(group.stream->all_sent());
  group.receive(pair, vector, args.parts.bytes);
  co_await strand.until(group.stream->all_received());
}

Task lead(Strand& strand, MessageGroup& group, const AllgatherArguments& args,
          const Doubling& shape, std::byte* vector) {
  const Halves halves(shape, false);
  const PlacedParts begin_of(args.parts, halves);
  const std::size_t bytes = args.parts[group.rank].bytes;
  std::byte* const own = vector + begin_of(halves.place());
  if (args.input != own) args.input.copy_to(own, bytes);
  if (shape.has_extra()) {
    group.receive(shape.pair(), own + bytes, args.parts[shape.pair()].bytes);
    co_await strand.until(group.stream->all_received());
  }
  co_await gather_halves(strand, group, halves, vector, begin_of);
  if (shape.has_extra()) {
    group.send(shape.pair(), vector, args.parts.bytes);
    co_await strand.until(group.stream->all_sent());
  }
}

}  // namespace

Task doubling(Strand& strand, MessageGroup& group, const AllgatherArguments& args) {
  const Doubling shape(group.size, group.rank);
  const bool direct = args.output.contiguous() && args.parts.adjoin();
  std::byte* const vector = direct ? args.output.at() : group.scratch;
  if (shape.is_extra()) {
    co_await follow(strand, group, args, shape.pair(), vector);
  } else {
    co_await lead(strand, group, args, shape, vector);
  }
  if (!direct) args.take_from(vector, 0);
}

Traffic doubling_cost(const GroupCall& call) {
  const Doubling any(call.ranks, 0);
  const Parts parts = call.parts();
  return traffic_of(call, any.rounds() + any.extra_steps(), [&](int rank, auto send) {
    const Doubling shape(call.ranks, rank);
    const Halves halves(shape, false);
    if (shape.is_extra()) send(rank, shape.pair(), parts[rank].bytes);
    if (shape.has_extra()) send(rank, shape.pair(), call.bytes);
    count_gathered_halves(rank, halves, PlacedParts(parts, halves), send);
  });
}

}  // namespace sumac::allgather
