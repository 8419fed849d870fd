// SPDX-License-Identifier: BSD-3-Clause
#include "team/direct_tries.h"

#include <gtest/gtest.h>

#include <vector>

#include "rules/rules.h"

namespace sumac {
namespace {

DirectTries tries_of(Reach reach) {
  Capabilities capabilities;
  capabilities.ranks = 4;
  capabilities.reach = reach;
  return DirectTries(ChoiceTable(RuleSet(), capabilities, "bcast:direct"));
}

constexpr std::size_t kBytes = 1 << 20;

TEST(DirectTries, ChoosesWhatTheRulesHaveForMappedMemory) {
  EXPECT_EQ(tries_of(Reach::maps).choose(Collective::bcast, kBytes, Algorithm::bcast_slots),
            Algorithm::bcast_direct);
  EXPECT_EQ(tries_of(Reach::maps).choose(Collective::bcast, kBytes, Algorithm::native),
            Algorithm::native);
  EXPECT_EQ(tries_of(Reach::copies).choose(Collective::bcast, kBytes, Algorithm::bcast_slots),
            Algorithm::native);
  EXPECT_EQ(tries_of(Reach::maps).choose(Collective::alltoallv, kBytes, Algorithm::alltoallv_slots),
            Algorithm::native);
}

TEST(DirectTries, TellsTheClassesOfItsAlgorithms) {
  Capabilities capabilities;
  capabilities.ranks = 4;
  capabilities.reach = Reach::maps;
  const DirectTries by_rules(ChoiceTable(RuleSet(), capabilities, ""));
  for (const Collective collective : {Collective::allreduce, Collective::bcast}) {
    const std::uint64_t classes = by_rules.classes(collective);
    for (int power = 0; power < 50; ++power) {
      const std::size_t bytes = std::size_t{1} << power;
      const auto direct = by_rules.choose(collective, bytes, Algorithm::allreduce_levels);
      EXPECT_EQ(classes >> (power + 1) & 1, direct != Algorithm::native) << power;
    }
    EXPECT_NE(classes, 0u);
  }
  EXPECT_EQ(tries_of(Reach::maps).classes(Collective::bcast), ~std::uint64_t{0}) << "forced";
  EXPECT_EQ(tries_of(Reach::copies).classes(Collective::bcast), 0u);
  EXPECT_EQ(by_rules.classes(Collective::alltoallv), 0u);
}

TEST(DirectTries, TriesComeSeldomWhereTheyFail) {
  DirectTries tries = tries_of(Reach::maps);
  std::vector<int> at;
  for (int call = 0; call < 400; ++call) {
    if (!tries.is_due(Collective::bcast, kBytes)) continue;
    at.push_back(call);
    tries.note(Collective::bcast, kBytes, false, 1000);
  }
  EXPECT_EQ(at, (std::vector<int>{0, 2, 5, 10, 19, 36, 69, 134, 199, 264, 329, 394}));
}

TEST(DirectTries, OneThatWentIsFollowedByTheNextCall) {
  DirectTries tries = tries_of(Reach::maps);
  for (int failed = 0; failed < 3; ++failed) tries.note(Collective::bcast, kBytes, false, 1000);
  EXPECT_FALSE(tries.is_due(Collective::bcast, kBytes));
  EXPECT_FALSE(tries.went(Collective::bcast, kBytes));
  tries.note(Collective::bcast, kBytes, true, 1000);
  EXPECT_TRUE(tries.went(Collective::bcast, kBytes));
  EXPECT_FALSE(tries.went(Collective::bcast, 4 * kBytes));
  for (int call = 0; call < 5; ++call) EXPECT_TRUE(tries.is_due(Collective::bcast, kBytes));
}

TEST(DirectTries, SizesAndCollectivesAreApart) {
  DirectTries tries = tries_of(Reach::maps);
  tries.note(Collective::bcast, kBytes, false, 1000);
  EXPECT_FALSE(tries.is_due(Collective::bcast, kBytes + 1));
  EXPECT_TRUE(tries.is_due(Collective::bcast, 2 * kBytes));
  EXPECT_TRUE(tries.is_due(Collective::reduce, kBytes));
}

TEST(DirectTries, TheGainIsMeasured) {
  DirectTries tries = tries_of(Reach::maps);
  const auto gain = [&] { return tries.gain_ns(Collective::bcast, kBytes); };
  const double usual = gain();
  EXPECT_GT(usual, 0);
  for (int i = 0; i < 16; ++i) {
    EXPECT_EQ(gain(), usual) << i;
    tries.note_other(Collective::bcast, kBytes, static_cast<std::uint64_t>(90'000 - 1000 * i));
    tries.note(Collective::bcast, kBytes, true, static_cast<std::uint64_t>(50'000 - 100 * i));
  }
  EXPECT_NEAR(gain(), 75'000 - 48'500, 1) << "the least times";
  tries.note(Collective::bcast, kBytes, true, 1'000'000);
  EXPECT_NEAR(gain(), 75'000 - 48'500, 1) << "one that waited";
  tries.note_other(Collective::bcast, kBytes, 40'000);
  EXPECT_NEAR(gain(), 40'000 - 48'500, 1) << "a loss";
  EXPECT_EQ(tries.gain_ns(Collective::reduce, kBytes), usual);
  EXPECT_EQ(tries.gain_ns(Collective::bcast, 4 * kBytes), 4 * usual);
  for (int i = 0; i < 64; ++i) tries.note(Collective::bcast, kBytes, false, 50'000);
  EXPECT_EQ(gain(), usual) << "forgotten";
}

}  // namespace
}  // namespace sumac
