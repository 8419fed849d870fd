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
  EXPECT_EQ(tries_of(Reach::maps).choose(Collective::alltoall, kBytes, Algorithm::alltoall_slots),
            Algorithm::native);
}

TEST(DirectTries, TriesComeSeldomWhereTheyFail) {
  DirectTries tries = tries_of(Reach::maps);
  std::vector<int> at;
  for (int call = 0; call < 400; ++call) {
    if (!tries.is_due(Collective::bcast, kBytes)) continue;
    at.push_back(call);
    tries.note(Collective::bcast, kBytes, false);
  }
  EXPECT_EQ(at, (std::vector<int>{0, 2, 5, 10, 19, 36, 69, 134, 199, 264, 329, 394}));
}

TEST(DirectTries, OneThatWentIsFollowedByTheNextCall) {
  DirectTries tries = tries_of(Reach::maps);
  for (int failed = 0; failed < 3; ++failed) tries.note(Collective::bcast, kBytes, false);
  EXPECT_FALSE(tries.is_due(Collective::bcast, kBytes));
  tries.note(Collective::bcast, kBytes, true);
  for (int call = 0; call < 5; ++call) EXPECT_TRUE(tries.is_due(Collective::bcast, kBytes));
}

TEST(DirectTries, SizesAndCollectivesAreApart) {
  DirectTries tries = tries_of(Reach::maps);
  tries.note(Collective::bcast, kBytes, false);
  EXPECT_FALSE(tries.is_due(Collective::bcast, kBytes + 1));
  EXPECT_TRUE(tries.is_due(Collective::bcast, 2 * kBytes));
  EXPECT_TRUE(tries.is_due(Collective::reduce, kBytes));
}

}  // namespace
}  // namespace sumac
