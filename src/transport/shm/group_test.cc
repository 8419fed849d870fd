// SPDX-License-Identifier: BSD-3-Clause
// The tests check what ranks tell each other about slots that they have finished with.
#include "transport/shm/group.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <vector>

#include "testing/one_process.h"

namespace sumac {
namespace {

constexpr std::size_t kRing = 8, kSlot = 512, kPayloads = 2 * kRing;  // TestBlock has two turns

// The ranks are in this process's memory.
class Group {
 public:
  explicit Group(int ranks, Control control = Control::slot, std::size_t ring = kRing)
      : block_(ranks, ring, kSlot, 1, control) {
    for (int r = 0; r < ranks; ++r) ranks_.push_back(block_.group(r));
  }
  ShmGroup& operator[](int rank) { return ranks_[static_cast<std::size_t>(rank)]; }
  void take(std::uint64_t count, const Use& use) {
    for (ShmGroup& rank : ranks_) rank.take(count, use);
  }

 private:
  testing::TestBlock block_;
  std::vector<ShmGroup> ranks_;
};

bool is_free(ShmGroup& rank, std::uint64_t position) { return rank.slot_free(position).ready(); }

// Says what operations use, and how many positions a rank may then be ahead of the slowest.
struct Depth {
  const char* name;
  Use use;
  std::size_t positions;
};
const Depth kDepths[] = {{"a line", {}, kPositions},
                         {"two lines", {.lines = 2}, kPositions},
                         {"all lines", {.lines = kLines}, kFurtherLines / kLines},
                         {"results", {.results = true}, kResultPlaces},
                         {"a payload", {.room = kSlot}, kPayloads},
                         {"half a payload", {.room = kSlot / 2 - 1}, 2 * kPayloads},
                         {"a wide payload", {.room = 2 * kSlot}, kPayloads / 2}};

// The oldest operation under way waits for the flags that its position had when it began, however
// many have begun since: those that finished in all other positions, and those of a queue.
TEST(Group, AnOldOperationsFlagsStay) {
  Group group(2);
  group[0].announce({1, 1});
  const std::uint64_t oldest = group[0].take(1), flag = group[0].flag_of(oldest);
  constexpr std::size_t kQueued = 8;
  for (std::size_t i = 1; i < kPositions + kQueued; ++i) {
    group[0].announce({1 + i, 1});
    const std::uint64_t position = group[0].take(1);
    ASSERT_NE(group[0].flag_of(position), flag);
    ASSERT_EQ(group[0].flag_of(oldest), flag) << i;
  }
}

TEST(ShmGroup, SlotsAreFreeOnceAllHaveFinishedWithThem) {
  for (const Depth& depth : kDepths) {
    SCOPED_TRACE(depth.name);
    Group group(3);
    for (std::size_t i = 0; i < 2 * kPositions; ++i) group.take(1, depth.use);
    const std::uint64_t next = depth.positions;
    EXPECT_TRUE(is_free(group[0], next - 1));
    EXPECT_FALSE(is_free(group[0], next));
    for (int r = 0; r < 3; ++r) {
      Wait waiting = group[0].slot_free(next);
      EXPECT_FALSE(waiting.ready());
      group[r].finish(0);
      EXPECT_EQ(waiting.ready(), r == 2);
    }
    EXPECT_TRUE(is_free(group[0], next));
    EXPECT_FALSE(is_free(group[0], next + 1));
  }
}

// This rank may itself be the last one, in an operation that was called before.
TEST(ShmGroup, OwnSlotsAreNotUsedAheadOfOneself) {
  for (const Depth& depth : kDepths) {
    SCOPED_TRACE(depth.name);
    Group group(3);
    const std::uint64_t deep = depth.positions;
    for (std::size_t i = 0; i < deep + 1; ++i) group.take(1, depth.use);
    for (std::uint64_t p = 0; p < deep; ++p) {
      for (int r : {1, 2}) group[r].finish(p);
      if (p > 0) group[0].finish(p);
    }
    Wait waiting = group[0].slot_free(deep);
    EXPECT_FALSE(waiting.ready());
    group[0].finish(0);
    EXPECT_TRUE(waiting.ready());
    for (std::size_t i = 0; i < deep; ++i) group.take(1, depth.use);
    EXPECT_TRUE(is_free(group[0], 2 * deep - 1));
    EXPECT_FALSE(is_free(group[0], 2 * deep));
  }
}

// Whatever the order in which positions finish, other ranks learn of them without a gap.
TEST(ShmGroup, FinishesInAnyOrder) {
  std::mt19937 random(1);
  for (const Depth& depth : kDepths) {
    SCOPED_TRACE(depth.name);
    Group group(2);
    constexpr std::uint64_t kAll = 4000;
    std::vector<bool> finished(kAll + depth.positions);
    std::uint64_t without_gap = 0, taken = 0;
    while (without_gap < kAll) {
      for (; taken <= without_gap + depth.positions; ++taken) group.take(1, depth.use);
      const std::uint64_t position = without_gap + random() % depth.positions;
      if (finished[position]) continue;
      finished[position] = true;
      group[1].finish(position);
      while (finished[without_gap]) group[0].finish(without_gap++);
      for (; taken <= without_gap + depth.positions; ++taken) group.take(1, depth.use);
      ASSERT_TRUE(is_free(group[0], without_gap + depth.positions - 1));
      ASSERT_FALSE(is_free(group[0], without_gap + depth.positions));
    }
  }
}

// A flag tells that all positions before it are finished, except those of operations that may
// overlap. For these only the ranks' own counters count; once they have passed, flags tell again.
TEST(ShmGroup, InfersOnlyWhereOperationsFollowOneAnother) {
  Group group(2);
  const Use use{.results = true};
  constexpr std::uint64_t kDeep = kResultPlaces;
  group[0].take(1, use);
  group[0].finish(0);
  group[0].note_finished_before(0);
  group[0].take(1, use);
  group[0].finish(1);
  group[0].note_finished_before(1);
  group[0].take(1, use);
  group[0].let_overlap();
  group[0].finish(2);
  group[0].take(kDeep, use);
  EXPECT_TRUE(is_free(group[0], kDeep)) << "not inferred";
  group[0].finish(3);
  group[0].note_finished_before(3);
  EXPECT_FALSE(is_free(group[0], kDeep + 2)) << "inferred of what overlaps";

  for (std::uint64_t p = 0; p < 3; ++p) group[1].finish(p);
  EXPECT_FALSE(is_free(group[0], kDeep + 3));
  EXPECT_TRUE(is_free(group[0], kDeep + 2));
  group[0].take(1, use);
  group[0].note_finished_before(4);
  EXPECT_TRUE(is_free(group[0], kDeep + 3)) << "not inferred any more";
}

void expect_owners_are_known(Group& group, int ranks) {
  group.take(kPayloads + 1, {.room = 8 * kLinesData, .results = true});
  for (int r = 0; r < ranks; ++r) {
    for (int other = 0; other < ranks; ++other) {
      for (const Wait& wait : {group[r].in(other, 5), group[r].out(other, 7)}) {
        int missing = 0;
        wait.for_each_missing([&](const Counter& counter) {
          EXPECT_EQ(group[r].owner_of(&counter), other);
          ++missing;
        });
        EXPECT_EQ(missing, 1);
      }
    }
    int missing = 0;
    group[r].slot_free(kPayloads).for_each_missing([&](const Counter& counter) {
      EXPECT_GE(group[r].owner_of(&counter), 0);
      ++missing;
    });
    EXPECT_EQ(missing, ranks);
  }
  const Counter elsewhere{0};
  EXPECT_EQ(group[0].owner_of(&elsewhere), -1);
}

TEST(ShmGroup, KnowsWhoseCounterIsMissing) {
  for (const Control control : {Control::slot, Control::slab, Control::staggered}) {
    for (const int ranks : {1, 3, 17, 40}) {
      Group group(ranks, control);
      expect_owners_are_known(group, ranks);
    }
  }
}

// Expects that flags, lines and payloads of all positions that ranks may be using are apart from
// one another, wherever they lie and whatever operations use.
void expect_places_apart(Group& group, int ranks, std::uint64_t first, std::uint64_t last) {
  std::map<const std::byte*, std::size_t> places;  // address and length
  std::size_t added = 0;
  for (int r = 0; r < ranks; ++r) {
    const auto add = [&](const void* place, std::size_t bytes) {
      places.emplace(static_cast<const std::byte*>(place), bytes);
      ++added;
    };
    const auto add_flag = [&](const Counter& flag) { add(&flag, sizeof flag); };
    for (std::uint64_t p = first; p < last; ++p) {
      group[r].in(r, p).for_each_missing(add_flag);
      group[r].out(r, p).for_each_missing(add_flag);
      add(group[r].payload(r, p), kSlot);
      if (!group[r].has_lines()) {
        add(group[r].small(r, p), kLinesData);
        continue;
      }
      for (int i = 0; i < kLines; ++i) add(group[r].line(r, p, i).data, kLineData);
    }
  }
  EXPECT_EQ(places.size(), added);
  const std::byte* end = nullptr;
  for (const auto& [place, bytes] : places) {
    EXPECT_GE(place, end);
    end = place + bytes;
  }
}

TEST(ShmGroup, NoTwoThingsShareAPlace) {
  for (const Control control : {Control::slot, Control::slab, Control::staggered}) {
    for (const int ranks : {1, 2, 3, 17, 40}) {
      Group group(ranks, control);
      for (std::uint64_t p = 0; p < 100; ++p) {
        group.take(1, {.lines = kLines, .room = kSlot, .results = true});
      }
      for (const std::uint64_t first : {0, 29, 90}) {
        expect_places_apart(group, ranks, first, first + kRing);
      }
    }
  }
}

}  // namespace
}  // namespace sumac
