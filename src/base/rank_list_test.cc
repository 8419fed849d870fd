// SPDX-License-Identifier: BSD-3-Clause
#include "base/rank_list.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

namespace sumac {
namespace {

// Returns ranks in runs of random length and stride; `most` is the longest run.
std::vector<int> random_runs(std::mt19937& random, int most) {
  std::vector<int> ranks;
  for (unsigned run = random() % 6; run > 0; --run) {
    const int stride = static_cast<int>(random() % 9) - 4;
    const int rank = static_cast<int>(random() % 1000);
    const auto count = static_cast<int>(1 + random() % static_cast<unsigned>(most));
    for (int i = 0; i < count; ++i) ranks.push_back(rank + i * stride);
  }
  return ranks;
}

void expect_same(const RankList& list, const std::vector<int>& ranks) {
  ASSERT_EQ(list.size(), static_cast<int>(ranks.size()));
  EXPECT_EQ(list.empty(), ranks.empty());
  EXPECT_EQ(std::vector<int>(list.begin(), list.end()), ranks);
  for (int i = 0; i < list.size(); ++i) {
    ASSERT_EQ(list[i], ranks[static_cast<std::size_t>(i)]) << i;
  }
  if (ranks.empty()) return;
  EXPECT_EQ(list.front(), ranks.front());
  EXPECT_EQ(list.back(), ranks.back());
}

TEST(RankList, HasWhatAVectorHas) {
  std::mt19937 random(1);
  for (int round = 0; round < 3000; ++round) {
    const std::vector<int> ranks = random_runs(random, round % 2 ? 3 : 40);
    const RankList list(ranks);
    expect_same(list, ranks);
    std::vector<std::int32_t> words;
    list.pack(words);
    const std::int32_t* at = words.data();
    EXPECT_TRUE(RankList::unpack(at) == list);
    EXPECT_EQ(at, words.data() + words.size());
    std::vector<int> other = ranks;
    EXPECT_TRUE(list == RankList(other));
    other.push_back(7);
    EXPECT_FALSE(list == RankList(other));
    other.pop_back();
    if (!other.empty()) {
      other[random() % other.size()] += 1;
      EXPECT_FALSE(list == RankList(other));
    }
  }
}

TEST(RankList, FindsRanks) {
  std::mt19937 random(2);
  for (int round = 0; round < 3000; ++round) {
    std::vector<int> ranks(1 + random() % 60);
    std::iota(ranks.begin(), ranks.end(), 0);
    if (round % 3) std::shuffle(ranks.begin(), ranks.end(), random);
    ranks.resize(1 + random() % ranks.size());
    const RankList list(ranks);
    for (int rank = -2; rank < 64; ++rank) {
      const auto found = std::find(ranks.begin(), ranks.end(), rank);
      const int index = found == ranks.end() ? -1 : static_cast<int>(found - ranks.begin());
      ASSERT_EQ(list.index_of(rank), index);
    }
    std::sort(ranks.begin(), ranks.end());
    const RankList ascending(ranks);
    for (int number = -2; number < 64; ++number) {
      const auto above = std::upper_bound(ranks.begin(), ranks.end(), number);
      ASSERT_EQ(ascending.last_up_to(number), static_cast<int>(above - ranks.begin()) - 1);
    }
  }
}

TEST(RankList, OneRunForBlocksAndRanksDealtInTurn) {
  std::vector<int> dealt;
  for (int rank = 3; rank < 6000; rank += 7) dealt.push_back(rank);
  EXPECT_EQ(RankList(dealt).runs(), 1u);
  EXPECT_LE(RankList(dealt).bytes(), 16u);
  for (const int count : {0, 1, 2, 6000}) {
    std::vector<int> ranks(static_cast<std::size_t>(count));
    std::iota(ranks.begin(), ranks.end(), 0);
    expect_same(RankList::first(count), ranks);
    EXPECT_TRUE(RankList::first(count) == RankList(ranks));
    EXPECT_EQ(RankList(ranks).runs(), count > 0 ? 1u : 0u);
  }
}

}  // namespace
}  // namespace sumac
