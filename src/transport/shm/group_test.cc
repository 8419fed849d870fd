// SPDX-License-Identifier: BSD-3-Clause
// What ranks tell each other about slots that they have finished with.
#include "transport/shm/group.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "testing/one_process.h"

namespace sumac {
namespace {

constexpr std::size_t kRing = 8;

// Ranks in this process's memory.
class Group {
 public:
  explicit Group(int ranks) : block_(ranks, kRing, 512) {
    for (int r = 0; r < ranks; ++r) ranks_.push_back(block_.group(r));
  }
  ShmGroup& operator[](int rank) { return ranks_[static_cast<std::size_t>(rank)]; }

 private:
  testing::TestBlock block_;
  std::vector<ShmGroup> ranks_;
};

bool is_free(ShmGroup& rank, std::uint64_t position) { return rank.slot_free(position).ready(); }

TEST(ShmGroup, SlotsAreFreeOnceAllHaveFinishedWithThem) {
  Group group(3);
  EXPECT_TRUE(is_free(group[0], kRing - 1));
  EXPECT_FALSE(is_free(group[0], kRing));
  for (int r = 0; r < 3; ++r) {
    Wait waiting = group[0].slot_free(kRing);
    EXPECT_FALSE(waiting.ready());
    group[r].finish(0);
    EXPECT_EQ(waiting.ready(), r == 2);
  }
  EXPECT_TRUE(is_free(group[0], kRing));
  EXPECT_FALSE(is_free(group[0], kRing + 1));
}

// This rank may itself be the last one, in an operation that was called before.
TEST(ShmGroup, OwnSlotsAreNotUsedAheadOfOneself) {
  Group group(3);
  for (std::uint64_t p = 0; p < kRing; ++p) {
    for (int r : {1, 2}) group[r].finish(p);
    if (p > 0) group[0].finish(p);
  }
  Wait waiting = group[0].slot_free(kRing);
  EXPECT_FALSE(waiting.ready());
  group[0].finish(0);
  EXPECT_TRUE(waiting.ready());
  EXPECT_TRUE(is_free(group[0], 2 * kRing - 1));
  EXPECT_FALSE(is_free(group[0], 2 * kRing));
}

// Whatever the order within a ring's length, other ranks learn of finished positions without a gap.
TEST(ShmGroup, FinishesInAnyOrder) {
  std::mt19937 random(1);
  Group group(2);
  constexpr std::uint64_t kPositions = 4000;
  std::vector<bool> finished(kPositions + kRing);
  std::uint64_t without_gap = 0;
  while (without_gap < kPositions) {
    const std::uint64_t position = without_gap + random() % kRing;
    if (finished[position]) continue;
    finished[position] = true;
    group[1].finish(position);
    while (finished[without_gap]) group[0].finish(without_gap++);
    ASSERT_TRUE(is_free(group[0], without_gap + kRing - 1));
    ASSERT_FALSE(is_free(group[0], without_gap + kRing));
  }
}

// A flag tells that all positions before it are finished, except those of operations that may
// overlap. For these only the ranks' own counters count; once they have passed, flags tell again.
TEST(ShmGroup, InfersOnlyWhereOperationsFollowOneAnother) {
  Group group(2);
  group[0].take(1);
  group[0].finish(0);
  group[0].note_finished_before(0);
  group[0].take(1);
  group[0].finish(1);
  group[0].note_finished_before(1);
  EXPECT_TRUE(is_free(group[0], kRing)) << "not inferred";

  group[0].take(1);
  group[0].let_overlap();
  group[0].finish(2);
  group[0].take(1);
  group[0].finish(3);
  group[0].note_finished_before(3);
  EXPECT_FALSE(is_free(group[0], kRing + 2)) << "inferred of what overlaps";

  for (std::uint64_t p = 0; p < 3; ++p) group[1].finish(p);
  EXPECT_FALSE(is_free(group[0], kRing + 3));
  EXPECT_TRUE(is_free(group[0], kRing + 2));
  group[0].note_finished_before(4);
  EXPECT_TRUE(is_free(group[0], kRing + 3)) << "not inferred any more";
}

TEST(ShmGroup, KnowsWhoseCounterIsMissing) {
  Group group(3);
  for (int r = 0; r < 3; ++r) {
    for (int other = 0; other < 3; ++other) {
      group[r].in(other, 5).for_each_missing(
          [&](const Counter& counter) { EXPECT_EQ(group[r].owner_of(&counter), other); });
    }
    int missing = 0;
    group[r].slot_free(kRing).for_each_missing([&](const Counter& counter) {
      EXPECT_GE(group[r].owner_of(&counter), 0);
      ++missing;
    });
    EXPECT_EQ(missing, 3);
  }
  const Counter elsewhere{0};
  EXPECT_EQ(group[0].owner_of(&elsewhere), -1);
}

}  // namespace
}  // namespace sumac
