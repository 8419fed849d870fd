// SPDX-License-Identifier: BSD-3-Clause
// The tests give costs and check which way a writer stores.
#include "transport/shm/hand_over.h"

#include <gtest/gtest.h>

#include <random>

namespace sumac {
namespace {

constexpr std::uint64_t kPositions = 8;
constexpr std::uint64_t kPeriod = kPositions * PassSchedule::kPasses;
constexpr std::size_t kBytes = 4096;

// Costs of a chunk in ticks, for each way.
struct Costs {
  std::uint64_t store[kWays], read[kWays];
};

// A writer and its reader.
class Pair {
 public:
  // Returns how many of the period's positions were streamed outside the measured passes.
  std::uint64_t run_period(const Costs& costs) {
    std::uint64_t streamed = 0;
    for (std::uint64_t i = 0; i < kPeriod; ++i, ++position_) {
      const Way way = writer_.way(position_, [&](Way of, std::uint64_t period) {
        return read_[static_cast<std::size_t>(of)].of(period);
      });
      const auto w = static_cast<std::size_t>(way);
      Way measured;
      if (!writer_.schedule().measured(position_, measured)) {
        streamed += way == Way::streamed;
        continue;
      }
      EXPECT_EQ(way, measured);
      // Sometimes a rank is interrupted.
      const std::uint64_t more = random_() % 3 ? 0 : 1000000;
      writer_.note_stored(position_, way, costs.store[w] + more, kBytes);
      if (reads_) {
        read_[w].note(writer_.schedule().period(position_), costs.read[w] + more, kBytes);
      }
    }
    return streamed;
  }
  void stop_reading() { reads_ = false; }

 private:
  HandOver writer_{PassSchedule(kPositions)};
  PassCost read_[kWays];
  std::mt19937 random_{1};
  std::uint64_t position_ = 0;
  bool reads_ = true;
};

constexpr std::uint64_t kMost = kPeriod - 4 * kPositions;  // positions after the decision
constexpr Costs kNear{{400, 900}, {400, 600}}, kFar{{2000, 500}, {2000, 600}};

TEST(HandOver, StoresTheCheaperWayWhereverTheRanksAre) {
  if (!kCanStream) GTEST_SKIP() << "streamed stores are not used on this processor";
  Pair pair;
  EXPECT_EQ(pair.run_period(kNear), 0u);
  EXPECT_EQ(pair.run_period(kFar), kMost);
  EXPECT_EQ(pair.run_period(kFar), kPeriod - 2 * kPositions);
  // One pass is streamed, and until the decision all are as before.
  EXPECT_EQ(pair.run_period(kNear), 2 * kPositions);
  EXPECT_EQ(pair.run_period(kNear), 0u);
}

TEST(HandOver, LittleDifferenceChangesNothing) {
  constexpr Costs kAlike{{1000, 950}, {1000, 950}};
  Pair pair;
  EXPECT_EQ(pair.run_period(kAlike), 0u);
  pair.run_period(kFar);
  const Costs other{{950, 1000}, {950, 1000}};
  EXPECT_EQ(pair.run_period(other), kCanStream ? kPeriod - 2 * kPositions : 0u);
}

TEST(HandOver, OldCostsDecideNothing) {
  Pair pair;
  pair.run_period(kFar);
  pair.stop_reading();
  EXPECT_EQ(pair.run_period(kNear), kCanStream ? kPeriod - 2 * kPositions : 0u);
}

TEST(HandOver, CostsArePerByteAndOfOnePeriod) {
  PassCost cost;
  EXPECT_EQ(cost.of(0), 0u);
  cost.note(0, 4096, 4096);
  const std::uint64_t one = cost.of(0);
  EXPECT_GT(one, 0u);
  cost.note(0, 8192, 4096);
  EXPECT_EQ(cost.of(0), one);
  cost.note(0, 4096, 8192);
  EXPECT_LT(cost.of(0), one);
  EXPECT_EQ(PassCost(cost.word()).of(0), cost.of(0));
  EXPECT_EQ(cost.of(1), 0u);
  cost.note(1, 8192, 4096);
  EXPECT_GT(cost.of(1), one);
}

}  // namespace
}  // namespace sumac
