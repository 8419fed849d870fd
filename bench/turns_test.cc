// SPDX-License-Identifier: BSD-3-Clause
#include "turns.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "timing.h"

namespace sumac::bench {
namespace {

// Contenders that record the number of calls of each turn.
struct Notes {
  std::vector<std::pair<char, int>> asked;

  Repeat contender(char name) {
    return [this, name](int calls) { asked.push_back({name, calls}); };
  }
};

TEST(Turns, TheOrderChangesFromRoundToRound) {
  Notes notes;
  const auto turns = take_turns({notes.contender('a'), notes.contender('b')}, {4, 7, 1});
  std::string order;
  for (const auto& [name, calls] : notes.asked)
    if (calls == 7) order += name;
  EXPECT_EQ(order, "abbaabba");
  ASSERT_EQ(turns.size(), 2u);
  for (const Turns& each : turns) {
    EXPECT_EQ(each.calls * each.batches, 7);
    EXPECT_EQ(each.samples.us.size(), 4u);
    EXPECT_EQ(each.samples.rounds, 4);
  }
}

TEST(Turns, ACallComesBeforeThoseThatAreTimed) {
  Notes notes;
  take_turns({notes.contender('a')}, {1, 7, 1});
  ASSERT_GE(notes.asked.size(), 2u);
  EXPECT_EQ(notes.asked[notes.asked.size() - 2], std::make_pair('a', 1));
  EXPECT_EQ(notes.asked.back(), std::make_pair('a', 7));
}

// Calls longer than their share of the time: one call per round, and the fewest rounds allowed.
TEST(Turns, LongCallsAreFew) {
  int calls_made = 0;
  const Repeat slow = [&](int calls) {
    calls_made += calls;
    for (const std::int64_t end = now_ns() + calls * std::int64_t{2000000}; now_ns() < end;) {
    }
  };
  const auto turns = take_turns({slow}, {30, 0, 0.001});
  EXPECT_EQ(turns[0].samples.rounds, kFewestRounds);
  EXPECT_EQ(turns[0].calls * turns[0].batches, 1);
  EXPECT_EQ(calls_made, kFewestRounds + 2);
}

TEST(Turns, ShortCallsAreManyInABatch) {
  const auto turns = take_turns({[](int) {}}, {3, 0, 0.01});
  EXPECT_GT(turns[0].calls, 1);
  EXPECT_GT(turns[0].batches, 1);
}

}  // namespace
}  // namespace sumac::bench
