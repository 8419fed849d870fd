// SPDX-License-Identifier: BSD-3-Clause
#include "steady.h"

#include <gtest/gtest.h>

namespace sumac::bench {
namespace {

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
