// SPDX-License-Identifier: BSD-3-Clause
// What ranks tell each other about slots that they have finished with.
#include "transport/shm/group.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "testing/one_process.h"

namespace sumac {
namespace {

constexpr std::size_t kRing = 8;

// Ranks in this process's memory.
class Group {
 public:
  explicit Group(int ranks, Control control = Control::slot, std::size_t ring = kRing)
      : block_(ranks, ring, 512, 1, control) {
    for (int r = 0; r < ranks; ++r) ranks_.push_back(block_.group(r));
  }
  ShmGroup& operator[](int rank) { return ranks_[static_cast<std::size_t>(rank)]; }

 private:
  testing::TestBlock block_;
  std::vector<ShmGroup> ranks_;
};

bool is_free(ShmGroup& rank, std::uint64_t position) { return rank.slot_free(position).ready(); }

// The oldest operation under way waits for the flags that its position had when it began, however
// many have begun since: all that finished in the rest of the ring, and those of a queue.
TEST(Group, AnOldOperationsFlagsStay) {
  for (const std::size_t ring : {kRing, kMostSlots}) {
    Group group(2, Control::slot, ring);
    group[0].announce({1, 1});
    const std::uint64_t oldest = group[0].take(1), flag = group[0].flag_of(oldest);
    constexpr std::size_t kQueued = 8;
    for (std::size_t i = 1; i < ring + kQueued; ++i) {
      group[0].announce({1 + i, 1});
      const std::uint64_t position = group[0].take(1);
      ASSERT_NE(group[0].flag_of(position), flag);
      ASSERT_EQ(group[0].flag_of(oldest), flag) << i << " of a ring of " << ring;
    }
  }
}

// What operations of any sizes use of a payload never reaches into that of a position which ranks
// may still read, and stays within the slot.
TEST(Layout, PayloadsOfARingAreApart) {
  std::mt19937 random(1);
  for (std::size_t turns : {1, 2, 8}) {
    Layout layout;
    layout.ring = kRing;
    layout.slot_bytes = 1536;
    layout.turns = turns;
    std::vector<std::pair<std::size_t, std::size_t>> used;  // by position: from, to
    for (std::uint64_t position = 0; position < 3000; ++position) {
      const std::size_t most = random() % (layout.slot_bytes + 1);
      const std::size_t slot = position % kRing * layout.slot_stride() + sizeof(SlotHeader);
      const std::size_t offset = layout.payload_offset(position, most);
      EXPECT_EQ(offset % kFalseSharingRange, 0u);
      ASSERT_LE(offset + most, turns * layout.slot_bytes);
      used.emplace_back(slot + offset, slot + offset + most);
      for (std::uint64_t before = position - std::min(position, layout.positions() - 1);
           before < position; ++before) {
        const auto [from, to] = used[before];
        ASSERT_TRUE(used.back().second <= from || to <= used.back().first) << position;
      }
    }
  }
}

// Small messages go through all the memory, too.
TEST(Layout, SmallPayloadsUseAllTheMemory) {
  Layout layout;
  layout.turns = 4;
  constexpr std::size_t kSmall = 4 << 10;
  std::set<std::size_t> places;
  for (std::uint64_t round = 0; round < 1000; ++round) {
    places.insert(layout.payload_offset(round * layout.ring, kSmall));
  }
  EXPECT_EQ(places.size(), layout.turns * layout.slot_bytes / kSmall);
}

// Two ranks may use several payloads as one. These lie in the slot, and are used in turn too.
TEST(Layout, WidePayloads) {
  Layout layout;
  layout.slot_bytes = 1536;
  for (std::size_t turns : {1, 2, 4, 8}) {
    layout.turns = turns;
    layout.ranks = 3;
    EXPECT_EQ(layout.widest_payload(), layout.slot_bytes);
    layout.ranks = 2;
    EXPECT_EQ(layout.widest_payload(), std::min<std::size_t>(turns, 4) * layout.slot_bytes);
    for (std::size_t most = layout.slot_bytes + 1; most <= layout.widest_payload(); ++most) {
      std::set<std::size_t> places;
      for (std::uint64_t round = 0; round < 2 * turns; ++round) {
        const std::size_t offset = layout.payload_offset(round * layout.ring, most);
        EXPECT_EQ(offset % kFalseSharingRange, 0u);
        ASSERT_LE(offset + most, turns * layout.slot_bytes);
        for (const std::size_t other : places) {
          ASSERT_TRUE(other == offset || other + most <= offset || offset + most <= other);
        }
        places.insert(offset);
      }
      EXPECT_EQ(places.size(), turns / div_up(most, layout.slot_bytes));
    }
  }
}

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

void expect_owners_are_known(Group& group, int ranks) {
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
    group[r].slot_free(kRing).for_each_missing([&](const Counter& counter) {
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

// Flags and small data of a lane, wherever they lie, are apart from one another and from payloads.
TEST(ShmGroup, NoTwoThingsShareAPlace) {
  for (const Control control : {Control::slot, Control::slab, Control::staggered}) {
    for (const int ranks : {1, 2, 3, 17, 40}) {
      Group group(ranks, control);
      std::map<const std::byte*, std::size_t> places;  // and how long
      for (int r = 0; r < ranks; ++r) {
        for (std::uint64_t p = 0; p < kRing; ++p) {
          const auto add = [&](const void* place, std::size_t bytes) {
            places.emplace(static_cast<const std::byte*>(place), bytes);
          };
          group[r].in(r, p).for_each_missing([&](const Counter& flag) { add(&flag, sizeof flag); });
          group[r].out(r, p).for_each_missing(
              [&](const Counter& flag) { add(&flag, sizeof flag); });
          add(group[r].small(r, p), group[r].has_lines() ? kLineData : kLinesData);
          add(group[r].payload(r, p, 512), 512);
        }
      }
      EXPECT_EQ(places.size(), static_cast<std::size_t>(ranks) * kRing * 4);
      const std::byte* end = nullptr;
      for (const auto& [place, bytes] : places) {
        EXPECT_GE(place, end);
        end = place + bytes;
      }
    }
  }
}

}  // namespace
}  // namespace sumac
