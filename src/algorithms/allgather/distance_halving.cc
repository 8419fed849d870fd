// SPDX-License-Identifier: BSD-3-Clause
// All-gather by recursive doubling from the farthest rank to the nearest: in step k a rank
// exchanges all that it has with the one at distance p/2^(k+1), so the last exchange, of half the
// data, is with its neighbour. It is reduce_scatter/halving backwards. If the number of ranks is no
// power of two, the first ranks begin and end in pairs, and one of each pair is idle in between.
//   Steps    log2 p, two more when p is no power of two
//   Bytes    a rank sends n(p-1)/p, and up to 2n when p is no power of two
//   Wins     medium and large messages, where ranks that follow one another are nearer (on a
//            socket, on one kind of processor)
//   Needs    messages; scratch of n bytes, from which the parts are copied to their places
// Source: the second half of Rabenseifner's all-reduce (allreduce/rabenseifner.cc).
#include "algorithms/halving.h"

namespace sumac::allgather {
namespace {

// Returns true if the parts lie in the order of places, from the beginning of the output.
bool lie_in_places(const Parts& parts, const PlacedParts& places, int count) {
  std::size_t end = 0;
  for (int place = 0; place < count; ++place) {
    for (int i = 0; i < places.ranks(place); ++i) {
      const Part part = parts[places.first(place) + i];
      if (part.bytes > 0 && part.offset != end) return false;
      end += part.bytes;
    }
  }
  return true;
}

// Copies the parts out of the places that they have in `vector`.
void take_from_places(const AllgatherArguments& args, const PlacedParts& places, int count,
                      const std::byte* vector) {
  for (int place = 0; place < count; ++place) {
    for (int i = 0; i < places.ranks(place); ++i) {
      const Part part = args.parts[places.first(place) + i];
      (args.output + part.offset).copy_from(vector, part.bytes);
      vector += part.bytes;
    }
  }
}

// This rank is idle in between: it gives its part to its pair, and gets everything from it.
Task follow_pair(Strand& strand, MessageGroup& group, const AllgatherArguments& args, int pair,
                 std::byte* vector) {
  // In place, the data received overwrite the input.
  const std::size_t own = args.parts[group.rank].bytes;
  group.send(pair, args.input.packed(group.scratch, own), own);
  co_await strand.until(group.stream->all_sent());
  group.receive(pair, vector, args.parts.bytes);
  co_await strand.until(group.stream->all_received());
}

Task lead_pair(Strand& strand, MessageGroup& group, const AllgatherArguments& args,
               const Halves& halves, std::byte* vector) {
  const Doubling& shape = halves.shape();
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

Task distance_halving(Strand& strand, MessageGroup& group, const AllgatherArguments& args) {
  const Doubling shape(group.size, group.rank), leader(group.size, 0);
  const Halves halves(shape.is_extra() ? leader : shape);
  const PlacedParts places(args.parts, halves);
  const int count = leader.ranks();
  const bool direct = args.output.contiguous() && lie_in_places(args.parts, places, count);
  std::byte* const vector = direct ? args.output.at() : group.scratch;
  if (shape.is_extra()) {
    co_await follow_pair(strand, group, args, shape.pair(), vector);
  } else {
    co_await lead_pair(strand, group, args, halves, vector);
  }
  if (!direct) take_from_places(args, places, count, vector);
}

Traffic distance_halving_cost(const GroupCall& call) {
  const Doubling any(call.ranks, 0);
  const Parts parts = call.parts();
  return traffic_of(call, any.rounds() + any.extra_steps(), [&](int rank, auto send) {
    const Doubling shape(call.ranks, rank);
    const Halves halves(shape);
    if (shape.is_extra()) send(rank, shape.pair(), parts[rank].bytes);
    if (shape.has_extra()) send(rank, shape.pair(), call.bytes);
    count_gathered_halves(rank, halves, PlacedParts(parts, halves), send);
  });
}

}  // namespace sumac::allgather
