// SPDX-License-Identifier: BSD-3-Clause
// This header says which ranks of a group exchange messages. It is arithmetic apart from the
// communication; the algorithms use it, and so do their costs (cost.h).
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

namespace sumac {

// As many ranks as possible, a power of two of them, go on. The extra ranks are ranks 1, 3, ... of
// the first 2e ranks, each paired with the rank before it; in the root's pair it is the other one.
class Doubling {
 public:
  Doubling(int size, int rank, int root = 0) : rank_(rank), root_(root) {
    while (ranks_ * 2 <= size) ranks_ *= 2;
    extras_ = size - ranks_;
  }
  // Returns how many ranks go on while the extra ones wait; 1 on an extra rank.
  int ranks() const { return is_extra() ? 1 : ranks_; }
  bool is_extra() const { return is_paired(rank_) && rank_ != going_on(rank_ / 2); }
  bool has_extra() const { return has_extra(rank_); }
  bool has_extra(int rank) const { return is_paired(rank) && rank == going_on(rank / 2); }
  bool is_paired() const { return is_paired(rank_); }
  int pair() const { return rank_ ^ 1; }
  // Returns how many distances 1, 2, 4, ... there are at which ranks that are not extra have
  // partners.
  int rounds() const { return std::countr_zero(static_cast<unsigned>(ranks_)); }
  int extra_steps() const { return extras_ > 0 ? 2 : 0; }  // data in, result out
  // Returns this rank's number among those that are not extra.
  int number() const { return is_paired() ? rank_ / 2 : rank_ - extras_; }
  int rank_of(int number) const { return number < extras_ ? going_on(number) : number + extras_; }
  int partner(int distance) const { return rank_of(number() ^ distance); }

 private:
  bool is_paired(int rank) const { return rank < 2 * extras_; }
  // Returns the rank of a pair that goes on.
  int going_on(int pair) const { return root_ / 2 == pair ? root_ : 2 * pair; }

  int rank_, root_, ranks_ = 1, extras_ = 0;
};

// This is a k-nomial tree over `size` ranks, with ranks counted from the root. With place v written
// to base k, the parent of v has v's digits with the lowest non-zero one cleared; so a subtree is a
// run of neighbours.
class Knomial {
 public:
  Knomial(int size, int rank, int root, int radix)
      : size_(size), root_(root), radix_(radix), place_((rank - root + size) % size) {
    while (span_ < size_ && place_ / span_ % radix_ == 0) span_ *= radix_;
  }
  // Returns the number of levels of a tree below its root.
  static int depth(int size, int radix) {
    int depth = 0;
    for (std::int64_t reached = 1; reached < size; reached *= radix) ++depth;
    return depth;
  }
  bool is_root() const { return place_ == 0; }
  int parent() const { return rank_of(place_ - place_ / span_ % radix_ * span_); }
  // Ranks below this one lie within `span` places of it.
  int span() const { return span_; }
  int radix() const { return radix_; }
  // Returns child number 1 <= j < radix at `distance` (a power of the radix below span()), or -1 if
  // there is none.
  int child(int j, int distance) const {
    const int place = place_ + j * distance;
    return place < size_ ? rank_of(place) : -1;
  }

 private:
  int rank_of(int place) const { return (place + root_) % size_; }
  int size_, root_, radix_, place_, span_ = 1;
};

// In this tree ranks are folded in the same order and grouping, whatever the root: runs of `radix`
// neighbours, then runs of `radix` such runs, and so on. A run is led by the root if it is one of
// its ranks, else by its first rank.
class RunTree {
 public:
  RunTree(int size, int rank, int root, int radix)
      : size_(size), rank_(rank), root_(root), radix_(radix) {
    while (span_ < size_ && leader(first_of(span_ * radix_), span_ * radix_) == rank_) {
      span_ *= radix_;
    }
  }
  bool is_root() const { return rank_ == root_; }
  bool is_leaf() const { return span_ == 1; }
  // Returns the length of the longest run that this rank leads, a power of the radix.
  std::int64_t span() const { return span_; }
  int radix() const { return radix_; }
  // Returns the leader of the run that is `radix` times as long. The root has none.
  int parent() const { return leader(first_of(span_ * radix_), span_ * radix_); }
  // Returns the leader of run number 0 <= j < radix of `length` ranks, in the run of radix times as
  // many that has this rank; -1 if there is none.
  int member(int j, std::int64_t length) const {
    const std::int64_t first = first_of(length * radix_) + j * length;
    return first < size_ ? leader(first, length) : -1;
  }
  // Returns the number of ranks whose parent this rank is.
  int children() const {
    int count = 0;
    for (std::int64_t length = 1; length < span_; length *= radix_) {
      for (int j = 0; j < radix_; ++j) {
        const int at = member(j, length);
        count += at >= 0 && at != rank_;
      }
    }
    return count;
  }

 private:
  std::int64_t first_of(std::int64_t length) const { return rank_ / length * length; }
  int leader(std::int64_t first, std::int64_t length) const {
    return root_ >= first && root_ < first + length ? root_ : static_cast<int>(first);
  }
  int size_, rank_, root_, radix_;
  std::int64_t span_ = 1;
};

// This chain goes from the root through the ranks after it.
class Chain {
 public:
  Chain(int size, int rank, int root)
      : size_(size), rank_(rank), place_((rank - root + size) % size) {}
  bool is_root() const { return place_ == 0; }
  bool is_last() const { return place_ + 1 == size_; }
  int towards_root() const { return (rank_ + size_ - 1) % size_; }
  int away() const { return (rank_ + 1) % size_; }

 private:
  int size_, rank_, place_;
};

// The parts of a vector, one for each rank, go around this ring in steps; each rank sends to
// next().
class Ring {
 public:
  Ring(int size, int rank) : size_(size), rank_(rank) {}
  int steps() const { return size_ - 1; }  // after these a part has been everywhere
  int next() const { return at(1); }
  int previous() const { return at(-1); }
  // Return the rank whose part is sent in a step and received a step later. A reduced part ends at
  // the rank it belongs to; a gathered part begins there.
  int reduced(int step) const { return at(-1 - step); }
  int gathered(int step) const { return at(-step); }

 private:
  int at(int distance) const { return ((rank_ + distance) % size_ + size_) % size_; }
  int size_, rank_;
};

// A vector has as many places as Doubling has ranks. Ranks whose places are 1, 2, 4, ... apart
// exchange its halves: after the exchange at a distance, a rank that reduces (from large distances
// to small ones) keeps that many places, and a rank that gathers has twice as many.
class Halves {
 public:
  // Ranks that are far apart in place are neighbours in number, so that neighbours are folded
  // first.
  explicit Halves(const Doubling& shape) : shape_(shape), place_(mirrored(shape.number())) {}
  int place() const { return place_; }
  // Return the first of `distance` places that the rank keeps, or gives.
  int kept(int distance) const { return place_ & ~(distance - 1); }
  int given(int distance) const { return kept(distance) ^ distance; }
  int partner(int distance) const { return shape_.rank_of(mirrored(place_ ^ distance)); }
  int number_at(int place) const { return mirrored(place); }
  // Returns, in a binomial tree over the places, the distance at which a place hangs on its
  // parent's, which is nearer to the root's. This many places are below it; for the root all are.
  int places_below(int place, int root_place) const {
    const int apart = place ^ root_place;
    return apart == 0 ? shape_.ranks() : apart & -apart;
  }
  const Doubling& shape() const { return shape_; }

 private:
  int mirrored(int value) const {
    int result = 0;
    for (int bit = 0; bit < shape_.rounds(); ++bit) result = result * 2 + (value >> bit & 1);
    return result;
  }
  Doubling shape_;
  int place_;
};

// In this gathering every rank holds the parts of a run of ranks that starts with itself. In a
// round at a distance it sends the first parts of its run to ranks before it and receives those
// that follow its run.
class Bruck {
 public:
  Bruck(int size, int rank, int radix) : size_(size), rank_(rank), radix_(radix) {}
  int radix() const { return radix_; }
  // Returns how many ranks' parts message 1 <= j < radix has; 0: there is no such message.
  int ranks(int j, int distance) const {
    const std::int64_t left = size_ - static_cast<std::int64_t>(j) * distance;
    return static_cast<int>(std::clamp<std::int64_t>(left, 0, distance));
  }
  int to(int j, int distance) const { return (rank_ - j * distance + size_) % size_; }
  int from(int j, int distance) const { return (rank_ + j * distance) % size_; }

 private:
  int size_, rank_, radix_;
};

}  // namespace sumac
