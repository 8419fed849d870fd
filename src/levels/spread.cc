// SPDX-License-Identifier: BSD-3-Clause
#include "levels/spread.h"

#include <utility>

namespace sumac {

TreeOrder tree_order(const Hierarchy& hierarchy, int ranks) {
  // [rank] the ranks that it stands for among those that a level groups, in the order of the tree
  std::vector<std::vector<int>> under(static_cast<std::size_t>(ranks));
  for (int rank = 0; rank < ranks; ++rank) under[static_cast<std::size_t>(rank)] = {rank};
  TreeOrder order;
  for (const HierarchyLevel& level : hierarchy.levels) {
    const bool last = &level == &hierarchy.levels.back();
    for (const Group& group : level.groups) {
      std::vector<int> together;
      for (const int member : group.members) {
        if (last) order.tops.push_back(static_cast<int>(together.size()));
        const std::vector<int>& its = under[static_cast<std::size_t>(member)];
        together.insert(together.end(), its.begin(), its.end());
      }
      const int leader = group.members[static_cast<std::size_t>(group.leader)];
      under[static_cast<std::size_t>(leader)] = std::move(together);
      if (last) order.ranks = under[static_cast<std::size_t>(leader)];
    }
  }
  order.tops.push_back(ranks);
  return order;
}

void Spread::cut(const Parts& parts, std::shared_ptr<const TreeOrder> tree, std::size_t most_chunks,
                 std::size_t unit) {
  order_ = std::move(tree);
  const TreeOrder& order = *order_;
  at_.assign(1, 0);
  for (const int rank : order.ranks) at_.push_back(at_.back() + parts[rank].bytes);
  sizes_.clear();
  count_ = 1;
  for (int top = 0; top + 1 < order.tops.size(); ++top) {
    const std::size_t whole = at(order.tops[top + 1]) - at(order.tops[top]);
    const std::size_t size = std::max(unit, round_up(div_up(whole, most_chunks), unit));
    sizes_.push_back(size);
    count_ = std::max(count_, div_up(whole, size));
  }
}

Part Spread::piece(std::size_t chunk, int top) const {
  const std::size_t begin = at(order_->tops[top]), end = at(order_->tops[top + 1]);
  const std::size_t size = sizes_[static_cast<std::size_t>(top)];
  const std::size_t offset = std::min(end, begin + chunk * size);
  return {offset, std::min(size, end - offset)};
}

std::size_t Spread::bytes(std::size_t chunk) const {
  std::size_t sum = 0;
  for (int top = 0; top < static_cast<int>(sizes_.size()); ++top) sum += piece(chunk, top).bytes;
  return sum;
}

std::size_t Spread::begin(std::size_t chunk, int place) const {
  std::size_t before = begin_in_piece(chunk, place);
  for (int top = 0; top < top_of(place); ++top) before += piece(chunk, top).bytes;
  return before;
}

}  // namespace sumac
