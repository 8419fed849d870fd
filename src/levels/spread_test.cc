// SPDX-License-Identifier: BSD-3-Clause
#include "levels/spread.h"

#include <gtest/gtest.h>

#include <random>

#include "levels/stage.h"

namespace sumac {
namespace {

Group group_of(std::vector<int> members, int leader) {
  Group group;
  group.members = std::move(members);
  group.leader = leader;
  return group;
}

// Returns ranks in turn on two nodes, the first of which has two halves; leaders are anywhere.
Hierarchy three_levels() {
  Hierarchy hierarchy;
  hierarchy.levels.resize(3);
  hierarchy.levels[0].groups = {group_of({0, 4}, 1), group_of({1, 3, 5}, 2), group_of({2, 6}, 0)};
  hierarchy.levels[1].groups = {group_of({2, 4}, 1), group_of({5}, 0)};
  hierarchy.levels[2].groups = {group_of({4, 5}, 1)};
  return hierarchy;
}

std::vector<int> listed(const RankList& list) { return {list.begin(), list.end()}; }

TEST(TreeOrder, RanksOfAGroupAdjoin) {
  const TreeOrder order = tree_order(three_levels(), 7);
  EXPECT_EQ(listed(order.ranks), (std::vector<int>{2, 6, 0, 4, 1, 3, 5}));
  EXPECT_EQ(listed(order.tops), (std::vector<int>{0, 4, 7}));
  for (int place = 0; place < 7; ++place) EXPECT_EQ(order.top_of(place), place < 4 ? 0 : 1);
}

TEST(TreeOrder, MembersHaveTheirPlaces) {
  const Hierarchy hierarchy = three_levels();
  const TreeOrder order = tree_order(hierarchy, 7);
  const std::vector<LevelGroup> levels = levels_of(hierarchy, order, 4);
  ASSERT_EQ(levels.size(), 3u);
  EXPECT_EQ(listed(levels[0].places), (std::vector<int>{2, 3, 4}));
  EXPECT_EQ(listed(levels[1].places), (std::vector<int>{0, 2, 4}));
  EXPECT_EQ(listed(levels[2].places), (std::vector<int>{0, 4, 7}));
}

// Every byte of every part is in exactly one chunk, at one place, behind those before it.
TEST(Spread, HasEveryByteOnce) {
  const auto order = std::make_shared<const TreeOrder>(tree_order(three_levels(), 7));
  std::mt19937 random(1);
  for (int round = 0; round < 400; ++round) {
    std::vector<Part> listed;
    std::size_t all = 0;
    for (int r = 0; r < 7; ++r) {
      const std::size_t bytes = random() % 3 ? random() % (1u << random() % 12) : 0;
      listed.push_back({all, bytes});
      all += bytes;
    }
    Spread spread;
    const std::size_t most = 1 + random() % 9;
    spread.cut({all, 7, 1, 0, listed.data()}, order, most, kCacheLine);
    ASSERT_LE(spread.count(), most);
    std::vector<std::size_t> seen(7);
    for (std::size_t chunk = 0; chunk < spread.count(); ++chunk) {
      ASSERT_LE(spread.bytes(chunk), spread.bytes(0));
      ASSERT_TRUE(spread.bytes(chunk) > 0 || all == 0);
      std::size_t end = 0;
      for (int place = 0; place < 7; ++place) {
        ASSERT_EQ(spread.begin(chunk, place), end) << "chunk " << chunk << " place " << place;
        spread.for_each(chunk, place, place + 1, [&](int rank, std::size_t from, std::size_t n) {
          ASSERT_EQ(rank, order->ranks[place]);
          ASSERT_EQ(from, seen[static_cast<std::size_t>(rank)]);
          seen[static_cast<std::size_t>(rank)] += n;
          end += n;
        });
      }
      ASSERT_EQ(end, spread.bytes(chunk));
      ASSERT_EQ(spread.piece(chunk, 0).bytes + spread.piece(chunk, 1).bytes, end);
    }
    for (std::size_t r = 0; r < 7; ++r) ASSERT_EQ(seen[r], listed[r].bytes);
  }
}

}  // namespace
}  // namespace sumac
