// SPDX-License-Identifier: BSD-3-Clause
// Reduce-scatter by recursive halving. In step k a rank and the one at distance 2^k give each other
// the half of their data that is meant for the other's side, and fold what they keep, the lower
// one's data first. The vector is copied before: parts lie in the order of mirrored numbers, so a
// half is one message. Elements are folded in the same tree as by recursive doubling: same bits. If
// the number of ranks is no power of two, the first ranks begin and end in pairs, and one of each
// pair is idle in between.
//   Steps    log2 p, two more when p is no power of two
//   Bytes    a rank sends n(p-1)/p, and up to n when p is no power of two
//   Wins     small and medium messages
//   Needs    messages, scratch of 2n bytes
// Source: as allreduce/recursive_doubling.cc.
#include <cstring>

#include "algorithms/halving.h"

namespace sumac::reduce_scatter {
namespace {

// Copies the parts to their places. In a pair, it folds the other's data after this rank's.
void place_parts(const ReduceScatterArguments& args, const PlacedParts& begin_of, int places,
                 const std::byte* others, std::byte* to) {
  for (int place = 0; place < places; ++place) {
    const int first = begin_of.first(place);
    const std::size_t offset = args.parts[first].offset;
    const std::size_t bytes = args.parts.bytes_of(first, begin_of.ranks(place));
    if (others) {
      fold_two(args, args.input + offset, others + offset, to, bytes / args.element);
    } else {
      std::memcpy(to, args.input + offset, bytes);
    }
    to += bytes;
  }
}

Task give_all(Strand& strand, MessageGroup& group, const ReduceScatterArguments& args, int pair) {
  group.send(pair, args.input, args.bytes());
  co_await strand.until(group.stream->all_sent());
  group.receive(pair, args.output, args.parts[group.rank].bytes);
  co_await strand.until(group.stream->all_received());
}

}  // namespace

Task halving(Strand& strand, MessageGroup& group, const ReduceScatterArguments& args) {
  const Doubling shape(group.size, group.rank);
  if (shape.is_extra()) {
    co_await give_all(strand, group, args, shape.pair());
    co_return;
  }
  const Halves halves(shape);
  const PlacedParts begin_of(args.parts, halves);
  std::byte* const placed = group.scratch;
  std::byte* const incoming = group.scratch + args.bytes();
  if (shape.has_extra()) {
    group.receive(shape.pair(), incoming, args.bytes());
    co_await strand.until(group.stream->all_received());
  }
  place_parts(args, begin_of, shape.ranks(), shape.has_extra() ? incoming : nullptr, placed);
  co_await reduce_halves(strand, group, args, halves, placed, placed, incoming, begin_of);
  const std::byte* result = placed + begin_of(halves.place());
  const std::size_t own = args.parts[group.rank].bytes;
  if (own > 0) std::memcpy(args.output, result, own);  // else the output may be null
  if (shape.has_extra()) {
    group.send(shape.pair(), result + own, args.parts[shape.pair()].bytes);
    co_await strand.until(group.stream->all_sent());
  }
}

Traffic halving_cost(const GroupCall& call) {
  const Doubling any(call.ranks, 0);
  const Parts parts = call.parts();
  return traffic_of(call, any.rounds() + any.extra_steps(), [&](int rank, auto send) {
    const Doubling shape(call.ranks, rank);
    const Halves halves(shape);
    if (shape.is_extra()) send(rank, shape.pair(), call.bytes);
    if (shape.has_extra()) send(rank, shape.pair(), parts[shape.pair()].bytes);
    count_reduced_halves(rank, halves, PlacedParts(parts, halves), send);
  });
}

}  // namespace sumac::reduce_scatter
