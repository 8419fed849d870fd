// SPDX-License-Identifier: BSD-3-Clause
// Recursive halving and doubling work on a vector in places (Halves). All algorithms by halves
// share these steps. `begin_of(place)` is the byte at which a place begins; begin_of(number of
// places) is the end of the vector.
#pragma once

#include "algorithms/message_fold.h"

namespace sumac {

// Does recursive halving. Each rank sends the other half of what it still holds and folds what it
// keeps, with the data of the lower rank first, until it holds only its own place, in `to`. The
// data are at `from`, which may be `to`; `incoming` has room for half the vector.
template <class BeginOf>
Task reduce_halves(Strand& strand, MessageGroup& group, const ReduceArguments& args, Halves halves,
                   const std::byte* from, std::byte* to, std::byte* incoming, BeginOf begin_of) {
  for (int distance = halves.shape().ranks() / 2; distance >= 1; distance /= 2) {
    const int kept = halves.kept(distance), given = halves.given(distance);
    const std::size_t begin = begin_of(kept), bytes = begin_of(kept + distance) - begin;
    const int partner = halves.partner(distance);
    group.send(partner, from + begin_of(given), begin_of(given + distance) - begin_of(given));
    group.receive(partner, incoming, bytes);
    co_await strand.until(group.stream->all_received());
    co_await strand.until(group.stream->all_sent());
    const bool first = group.rank < partner;
    fold_two(args, first ? from + begin : incoming, first ? incoming : from + begin, to + begin,
             bytes / args.element);
    from = to;
  }
}

// Does recursive doubling, the inverse: it goes from the rank's own place to the whole vector.
template <class BeginOf>
Task gather_halves(Strand& strand, MessageGroup& group, Halves halves, std::byte* vector,
                   BeginOf begin_of) {
  for (int distance = 1; distance < halves.shape().ranks(); distance *= 2) {
    const int kept = halves.kept(distance), given = halves.given(distance);
    const int partner = halves.partner(distance);
    group.send(partner, vector + begin_of(kept), begin_of(kept + distance) - begin_of(kept));
    group.receive(partner, vector + begin_of(given), begin_of(given + distance) - begin_of(given));
    co_await strand.until(group.stream->all_received());
    co_await strand.until(group.stream->all_sent());
  }
}

// Does the inverse for one rank, at `root`'s place: up a binomial tree, in which a rank gets the
// places of its partners at growing distances, until one of them is nearer to the root. Then it
// sends everything.
template <class BeginOf>
Task gather_halves_at(Strand& strand, MessageGroup& group, Halves halves, int root,
                      std::byte* vector, BeginOf begin_of) {
  const int below = halves.places_below(halves.place(), root);
  for (int distance = 1; distance < below; distance *= 2) {
    const int given = halves.given(distance);
    group.receive(halves.partner(distance), vector + begin_of(given),
                  begin_of(given + distance) - begin_of(given));
  }
  co_await strand.until(group.stream->all_received());
  if (below == halves.shape().ranks()) co_return;
  const int kept = halves.kept(below);
  group.send(halves.partner(below), vector + begin_of(kept),
             begin_of(kept + below) - begin_of(kept));
  co_await strand.until(group.stream->all_sent());
}

// This cuts a vector into places whose numbers of elements differ by at most one.
struct EvenPlaces {
  std::size_t count, element;
  int rounds;
  std::size_t operator()(int place) const {
    return (count * static_cast<std::size_t>(place) >> rounds) * element;
  }
};

// Calls send for what a rank sends in these steps, one distance after another.
template <class BeginOf, class Send>
void count_reduced_halves(int rank, const Halves& halves, BeginOf begin_of, Send send) {
  for (int distance = halves.shape().ranks() / 2; distance >= 1; distance /= 2) {
    const int given = halves.given(distance);
    send(rank, halves.partner(distance), begin_of(given + distance) - begin_of(given));
  }
}
template <class BeginOf, class Send>
void count_gathered_halves(int rank, const Halves& halves, BeginOf begin_of, Send send) {
  for (int distance = 1; distance < halves.shape().ranks(); distance *= 2) {
    const int kept = halves.kept(distance);
    send(rank, halves.partner(distance), begin_of(kept + distance) - begin_of(kept));
  }
}

template <class BeginOf, class Send>
void count_halves_at(int rank, const Halves& halves, int root, BeginOf begin_of, Send send) {
  const int below = halves.places_below(halves.place(), root);
  if (below == halves.shape().ranks()) return;
  const int kept = halves.kept(below);
  send(rank, halves.partner(below), begin_of(kept + below) - begin_of(kept));
}

// The places of this vector are the parts of the ranks with their numbers. The part of an extra
// rank lies behind that of its pair.
class PlacedParts {
 public:
  PlacedParts(const Parts& parts, const Halves& halves) : parts_(parts), halves_(halves) {}
  std::size_t operator()(int place) const {
    std::size_t bytes = 0;
    for (int before = 0; before < place; ++before)
      bytes += parts_.bytes_of(first(before), ranks(before));
    return bytes;
  }
  // A place has the parts of one rank, or of two.
  int first(int place) const { return halves_.shape().rank_of(halves_.number_at(place)); }
  int ranks(int place) const { return halves_.shape().has_extra(first(place)) ? 2 : 1; }

 private:
  Parts parts_;
  Halves halves_;
};

}  // namespace sumac
