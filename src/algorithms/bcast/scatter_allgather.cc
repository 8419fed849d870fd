// SPDX-License-Identifier: BSD-3-Clause
// Broadcast by a binomial scatter of the root's data, halves of which go to the root's partners at
// shrinking distances, and an all-gather by recursive doubling. A rank keeps the data that it
// scatters onwards, so that no rank gets a byte twice: the partners of the first exchanges have it
// already.
//   Steps    2 log2 p, one more when p is no power of two
//   Bytes    the root sends 2n(p-1)/p, another rank less; all ranks together n(p-1)
//   Wins     medium messages on many ranks, for which a chain is too long, and a tree sends all
//            bytes log2 p times over the root's link
//   Needs    messages
// Source: van de Geijn's broadcast in Thakur, Rabenseifner, Gropp, "Optimization of collective
// communication operations in MPICH", IJHPCA 2005.
#include "algorithms/halving.h"

namespace sumac::bcast {
namespace {

// This says what a rank does, by its place in the vector. Ranks that follow one another exchange
// most.
class Scattered {
 public:
  Scattered(const Doubling& shape, int root_place, std::size_t bytes)
      : halves_(shape),
        begin_of_{bytes, 1, shape.rounds()},
        from_(halves_.places_below(halves_.place(), root_place)),
        root_place_(root_place) {}
  const Halves& halves() const { return halves_; }
  // Returns how many places, its own and those after it, the rank gets from its partner at that
  // distance; for the root, all.
  int from() const { return from_; }
  bool is_root() const { return from_ == halves_.shape().ranks(); }
  // takes() returns true if the rank lacks what its partner at that distance has gathered, gives()
  // if the partner lacks what the rank has.
  bool takes(int distance) const { return distance >= from_; }
  bool gives(int distance) const {
    return distance >= halves_.places_below(halves_.place() ^ distance, root_place_);
  }
  Part kept(int distance) const { return part(halves_.kept(distance), distance); }
  Part given(int distance) const { return part(halves_.given(distance), distance); }

 private:
  Part part(int place, int places) const {
    const std::size_t begin = begin_of_(place);
    return {begin, begin_of_(place + places) - begin};
  }
  Halves halves_;
  EvenPlaces begin_of_;
  int from_, root_place_;
};

Scattered scattered(int ranks, int rank, int root, std::size_t bytes) {
  const Halves of_root(Doubling(ranks, root, root));
  return {Doubling(ranks, rank, root), of_root.place(), bytes};
}

Task scatter_parts(Strand& strand, MessageGroup& group, const Scattered& own, std::byte* data) {
  if (!own.is_root()) {
    const Part taken = own.kept(own.from());
    group.receive(own.halves().partner(own.from()), data + taken.offset, taken.bytes);
    co_await strand.until(group.stream->all_received());
  }
  for (int distance = own.from() / 2; distance >= 1; distance /= 2) {
    const Part given = own.given(distance);
    group.send(own.halves().partner(distance), data + given.offset, given.bytes);
  }
}

Task gather_parts(Strand& strand, MessageGroup& group, const Scattered& own, std::byte* data) {
  for (int distance = 1; distance < own.halves().shape().ranks(); distance *= 2) {
    const int partner = own.halves().partner(distance);
    const Part kept = own.kept(distance), lacked = own.given(distance);
    if (own.gives(distance)) group.send(partner, data + kept.offset, kept.bytes);
    if (own.takes(distance)) group.receive(partner, data + lacked.offset, lacked.bytes);
    co_await strand.until(group.stream->all_received());
  }
}

}  // namespace

Task scatter_allgather(Strand& strand, MessageGroup& group, const BcastArguments& args) {
  const Doubling shape(group.size, group.rank, args.root);
  std::byte* const data = args.buffer.contiguous_or(group.scratch);
  if (group.rank == args.root) args.buffer.packed(data, args.bytes);
  if (shape.is_extra()) {
    group.receive(shape.pair(), data, args.bytes);
    co_await strand.until(group.stream->all_received());
  } else {
    const Scattered own = scattered(group.size, group.rank, args.root, args.bytes);
    co_await scatter_parts(strand, group, own, data);
    co_await gather_parts(strand, group, own, data);
    if (shape.has_extra()) group.send(shape.pair(), data, args.bytes);
  }
  if (group.rank != args.root) args.buffer.take(data, args.bytes);
  co_await strand.until(group.stream->all_sent());
}

Traffic scatter_allgather_cost(const GroupCall& call) {
  const Doubling any(call.ranks, 0);
  const int steps = 2 * any.rounds() + any.extra_steps() / 2;
  return traffic_of(call, steps, [&](int rank, auto send) {
    const Doubling shape(call.ranks, rank, call.root);
    if (shape.is_extra()) return send(shape.pair(), rank, call.bytes);
    const Scattered own = scattered(call.ranks, rank, call.root, call.bytes);
    const auto take = [&](int distance, Part part) {
      send(own.halves().partner(distance), rank, part.bytes);
    };
    if (!own.is_root()) take(own.from(), own.kept(own.from()));
    for (int distance = own.from(); distance < shape.ranks(); distance *= 2) {
      take(distance, own.given(distance));
    }
  });
}

}  // namespace sumac::bcast
