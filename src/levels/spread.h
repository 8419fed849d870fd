// SPDX-License-Identifier: BSD-3-Clause
// The parts of a reduce-scatter or an all-gather go over a hierarchy in the order of its tree, in
// which the parts of each group's ranks adjoin, and cut into chunks. A chunk has a piece of what
// belongs to each member of the last level, so that all of them have work in every chunk. This is
// arithmetic only, a function of values that all ranks share.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

#include "algorithms/chunks.h"
#include "base/rank_list.h"
#include "hierarchy/hierarchy.h"

namespace sumac {

// The ranks of a communicator are the leaves of its hierarchy.
struct TreeOrder {
  RankList ranks;  // in the order of the tree
  // Indexed by member of the last level: the place of the member's first rank. The end follows.
  RankList tops;

  int size() const { return ranks.size(); }
  // Returns the member of the last level to which the rank at a place belongs.
  int top_of(int place) const { return tops.last_up_to(place); }
};
TreeOrder tree_order(const Hierarchy& hierarchy, int ranks);

class Spread {
 public:
  Spread() = default;
  // Cuts the parts into at most `most_chunks` chunks, in whole units.
  void cut(const Parts& parts, std::shared_ptr<const TreeOrder> order, std::size_t most_chunks,
           std::size_t unit);

  std::size_t count() const { return count_; }
  // Returns the bytes of all pieces of a chunk; those of chunk 0 are the largest.
  std::size_t bytes(std::size_t chunk) const;
  // Returns the piece of a member of the last level, counted from the beginning of the ordered
  // vector.
  Part piece(std::size_t chunk, int top) const;
  // Returns how many bytes a chunk has of the ranks at places `from` to `to`, which belong to one
  // such member.
  std::size_t bytes(std::size_t chunk, int from, int to) const {
    return clamped(chunk, from, to).bytes;
  }
  // Returns where in the chunk the data of the rank at a place are.
  std::size_t begin(std::size_t chunk, int place) const;
  // Does the same, but counts from the beginning of the piece.
  std::size_t begin_in_piece(std::size_t chunk, int place) const {
    return clamped(chunk, place, place + 1).offset - piece(chunk, top_of(place)).offset;
  }
  int top_of(int place) const { return order_->top_of(place); }

  // Calls visit(rank, from, bytes) for the ranks at these places that have data in the chunk: these
  // are `bytes` bytes of the rank's part, from `from` on. They lie one behind the other in the
  // chunk.
  template <class Visit>
  void for_each(std::size_t chunk, int first, int end, Visit visit) const {
    for (int place = first; place < end; ++place) {
      const Part own = clamped(chunk, place, place + 1);
      if (own.bytes == 0) continue;
      visit(order_->ranks[place], own.offset - at(place), own.bytes);
    }
  }
  int ranks() const { return order_->size(); }

 private:
  std::size_t at(int place) const { return at_[static_cast<std::size_t>(place)]; }
  Part clamped(std::size_t chunk, int from, int to) const {
    const Part whole = piece(chunk, top_of(from));
    const std::size_t end = whole.offset + whole.bytes;
    const std::size_t first = std::clamp(at(from), whole.offset, end);
    return {first, std::clamp(at(to), whole.offset, end) - first};
  }

  std::shared_ptr<const TreeOrder> order_;
  std::vector<std::size_t> at_;     // indexed by place: the bytes before it; and all bytes
  std::vector<std::size_t> sizes_;  // indexed by member of the last level: bytes of a piece
  std::size_t count_ = 0;
};

}  // namespace sumac
