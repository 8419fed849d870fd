// SPDX-License-Identifier: BSD-3-Clause
#include "levels/spread.h"

#include <numeric>
#include <utility>

namespace sumac {

TreeOrder tree_order(const Hierarchy& hierarchy, int ranks) {
  const auto count = static_cast<std::size_t>(ranks);
  // For each rank, way[] has the members to which it belongs, on the lowest level first, and
  // representative[] the rank that stands for it.
  std::vector<std::vector<int>> way(count);
  std::vector<int> representative(count), member_of(count), leader_of(count);
  std::iota(representative.begin(), representative.end(), 0);
  for (const HierarchyLevel& level : hierarchy.levels) {
    for (const Group& group : level.groups) {
      for (std::size_t i = 0; i < group.members.size(); ++i) {
        const auto member = static_cast<std::size_t>(group.members[i]);
        member_of[member] = static_cast<int>(i);
        leader_of[member] = group.members[static_cast<std::size_t>(group.leader)];
      }
    }
    for (std::size_t r = 0; r < count; ++r) {
      int& stands = representative[r];
      way[r].push_back(member_of[static_cast<std::size_t>(stands)]);
      stands = leader_of[static_cast<std::size_t>(stands)];
    }
  }
  TreeOrder order;
  order.ranks.resize(count);
  std::iota(order.ranks.begin(), order.ranks.end(), 0);
  const auto way_to = [&](int rank) -> const auto& { return way[static_cast<std::size_t>(rank)]; };
  std::sort(order.ranks.begin(), order.ranks.end(), [&](int a, int b) {
    const auto &to_a = way_to(a), &to_b = way_to(b);
    return std::lexicographical_compare(to_a.rbegin(), to_a.rend(), to_b.rbegin(), to_b.rend());
  });
  for (std::size_t place = 0; place < count; ++place) {
    const int top = way_to(order.ranks[place]).back();
    if (static_cast<std::size_t>(top) == order.tops.size()) {
      order.tops.push_back(static_cast<int>(place));
    }
    order.top_of.push_back(top);
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
  for (std::size_t top = 0; top + 1 < order.tops.size(); ++top) {
    const std::size_t whole = at(order.tops[top + 1]) - at(order.tops[top]);
    const std::size_t size = std::max(unit, round_up(div_up(whole, most_chunks), unit));
    sizes_.push_back(size);
    count_ = std::max(count_, div_up(whole, size));
  }
}

Part Spread::piece(std::size_t chunk, int top) const {
  const auto member = static_cast<std::size_t>(top);
  const std::size_t begin = at(order_->tops[member]), end = at(order_->tops[member + 1]);
  const std::size_t offset = std::min(end, begin + chunk * sizes_[member]);
  return {offset, std::min(sizes_[member], end - offset)};
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
