// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "stats.h"

namespace sumac::bench {
namespace {

TEST(Stats, MedianOfOddAndEven) {
  EXPECT_EQ(median({}), 0);
  EXPECT_EQ(median({3, 1, 2}), 2);
  EXPECT_EQ(median({4, 1, 3, 2}), 2.5);
}

TEST(Stats, QuantileIsNearestRank) {
  std::vector<float> values;
  for (int i = 100; i > 0; i--) values.push_back(static_cast<float>(i));
  EXPECT_EQ(quantile(values, 0.99), 99);
  EXPECT_EQ(quantile(values, 0.5), 50);
  EXPECT_EQ(quantile({7}, 0.99), 7);
  EXPECT_EQ(quantile({}, 0.99), 0);
}

TEST(Stats, RoundIsMeanOverRanksOfTheirMedians) {
  // Two ranks, two rounds of three calls. The medians of rank 0 are 2 and 4, those of rank 1 20 and
  // 40.
  const Samples samples{2, 2, 3, {1, 2, 99, 4, 4, 4, 20, 20, 20, 1, 40, 90}, {}};
  const Figures figures = summarize(samples);
  EXPECT_EQ(figures.by_round, (std::vector<double>{11, 22}));
  EXPECT_EQ(figures.p50, 16.5);
  EXPECT_EQ(figures.min, 11);
  EXPECT_EQ(figures.p99, 99);
}

TEST(Stats, NothingMeasured) { EXPECT_EQ(summarize({}).p50, 0); }

TEST(Stats, OverlapIsWhatDoesNotLengthenTheComputation) {
  EXPECT_DOUBLE_EQ(overlap_percent({10}, {20}, {20}), 100);
  EXPECT_DOUBLE_EQ(overlap_percent({10}, {20}, {30}), 0);
  EXPECT_DOUBLE_EQ(overlap_percent({10}, {20}, {25}), 50);
}

TEST(Stats, OverlapIsTheMedianOfTheRoundsWithinItsEnds) {
  EXPECT_DOUBLE_EQ(overlap_percent({10, 10, 10}, {20, 20, 20}, {22, 29, 90}), 10);
  EXPECT_DOUBLE_EQ(overlap_percent({10}, {20}, {19}), 100);
  EXPECT_DOUBLE_EQ(overlap_percent({10}, {20}, {50}), 0);
  EXPECT_DOUBLE_EQ(overlap_percent({0}, {1}, {1}), 100);
  EXPECT_DOUBLE_EQ(overlap_percent({}, {}, {}), 0);
}

TEST(Stats, GeometricMean) {
  EXPECT_DOUBLE_EQ(geometric_mean({2, 8}), 4);
  EXPECT_EQ(geometric_mean({}), 0);
}

TEST(SteadyRounds, ARoundInWhichTheLineChangedIsDropped) {
  SteadyRounds rounds(100);
  EXPECT_TRUE(rounds.add(110));
  EXPECT_FALSE(rounds.add(450));  // from near to far
  EXPECT_TRUE(rounds.add(430));
  EXPECT_FALSE(rounds.add(100));  // and back
  EXPECT_TRUE(rounds.add(104));
  EXPECT_EQ(rounds.line_ns(), (std::vector<double>{105, 440, 102}));
  EXPECT_EQ(rounds.dropped(), 2);
}

TEST(SteadyRounds, WhereNoRoundIsSteadyTheLastIsKept) {
  SteadyRounds rounds(100);
  EXPECT_FALSE(rounds.add(450));
  EXPECT_FALSE(rounds.add(100));
  rounds.keep_last();
  EXPECT_EQ(rounds.line_ns(), (std::vector<double>{0}));
  EXPECT_EQ(rounds.dropped(), 1);
}

TEST(SteadyRounds, WithoutAMeasuredLineAllRoundsCount) {
  SteadyRounds rounds(0);
  EXPECT_TRUE(rounds.add(0));
  EXPECT_TRUE(rounds.add(0));
  EXPECT_EQ(rounds.dropped(), 0);
  EXPECT_EQ(rounds.line_ns().size(), 2u);
}

}  // namespace
}  // namespace sumac::bench
