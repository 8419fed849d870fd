// SPDX-License-Identifier: BSD-3-Clause
// What the algorithms over messages share. Who talks to whom is arithmetic of its own, apart from
// the communication.
#pragma once

#include <algorithm>
#include <cstddef>

#include "algorithms/algorithms.h"
#include "algorithms/in_pieces.h"

namespace sumac {

// to[i] = (sources[0][i] op sources[1][i]) op ...; `to` may be one of them.
inline void fold_all(const ReduceArguments& args, const std::byte* const* sources, int num,
                     std::byte* to, std::size_t count) {
  if (count == 0) return;
  in_pieces(to, count, args.element, [&](std::size_t first, std::size_t n) {
    const void* from[kMaxSources];
    for (int s = 0; s < num; ++s) from[s] = sources[s] + first * args.element;
    args.kernel(to + first * args.element, from, num, n);
  });
}

inline void fold_two(const ReduceArguments& args, const std::byte* first, const std::byte* second,
                     std::byte* to, std::size_t count) {
  const std::byte* const sources[] = {first, second};
  fold_all(args, sources, 2, to, count);
}

// The largest power of two of ranks, and who is left over: ranks 1, 3, ... of the first 2e ones,
// each paired with the rank before it.
class Doubling {
 public:
  Doubling(int size, int rank) : rank_(rank) {
    while (ranks_ * 2 <= size) ranks_ *= 2;
    extras_ = size - ranks_;
  }
  // Those that go on while the extra ones wait; 1 for these, who have nobody to go on with.
  int ranks() const { return is_extra() ? 1 : ranks_; }
  bool is_extra() const { return rank_ < 2 * extras_ && rank_ % 2 == 1; }
  bool has_extra() const { return rank_ < 2 * extras_ && rank_ % 2 == 0; }
  int pair() const { return rank_ ^ 1; }
  // Among those that are not extra.
  int number() const { return rank_ < 2 * extras_ ? rank_ / 2 : rank_ - extras_; }
  int partner(int distance) const {
    const int other = number() ^ distance;
    return other < extras_ ? 2 * other : other + extras_;
  }

 private:
  int rank_, ranks_ = 1, extras_ = 0;
};

// Before and after what Doubling is for: extra ranks give their data to their pairs, which fold
// them after their own into the output, and get the result in the end.
Task fold_extras(Strand& strand, MessageGroup& group, const ReduceArguments& args);
Task serve_extras(Strand& strand, MessageGroup& group, const ReduceArguments& args);

// A k-nomial tree over `size` ranks, ranks counted from the root. With place v written to base k,
// v's parent lacks its lowest digit that is not zero; so a subtree is a run of neighbours.
class Knomial {
 public:
  Knomial(int size, int rank, int root, int radix)
      : size_(size), root_(root), radix_(radix), place_((rank - root + size) % size) {
    while (span_ < size_ && place_ / span_ % radix_ == 0) span_ *= radix_;
  }
  bool is_root() const { return place_ == 0; }
  int parent() const { return rank_of(place_ - place_ / span_ % radix_ * span_); }
  // Everything below this rank lies within `span` places of it.
  int span() const { return span_; }
  int radix() const { return radix_; }
  // Child number 1 <= j < radix at `distance` (a power of the radix below span()); -1: none.
  int child(int j, int distance) const {
    const int place = place_ + j * distance;
    return place < size_ ? rank_of(place) : -1;
  }

 private:
  int rank_of(int place) const { return (place + root_) % size_; }
  int size_, root_, radix_, place_, span_ = 1;
};

}  // namespace sumac
