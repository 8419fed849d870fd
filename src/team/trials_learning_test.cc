// SPDX-License-Identifier: BSD-3-Clause
// The tests check what becomes of what trials find: which classes and calls follow it, what finding
// it may cost, and how long it is served once it is wrong.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "testing/lone_calls.h"

namespace sumac::testing {
namespace {

// Returns how the first call of a class goes.
Turn first_call(Calls& calls, std::size_t bytes) {
  return call_once(calls.trials, {kAllreduce, bytes, calls.results}, calls.oob, calls.others,
                   [](int) { return 1; });
}

TEST(Neighbours, AClassBeginsWithWhatTheyHaveFound) {
  for (const std::size_t bytes : {kBytes / 2, 2 * kBytes}) {
    Calls calls({kSplit});
    EXPECT_EQ(first_call(calls, bytes), kRules);
    calls.compare({300, 100, 400});
    // One that has begun follows as well, others do not.
    EXPECT_EQ(first_call(calls, bytes), kept(Route::other, 1));
    EXPECT_EQ(first_call(calls, 2 * kBytes), kept(Route::other, 1));
    EXPECT_EQ(first_call(calls, kBytes / 2), kept(Route::other, 1));
    EXPECT_EQ(first_call(calls, 4 * kBytes), kRules);
    EXPECT_EQ(first_call(calls, kBytes / 4), kRules);
  }
}

TEST(Neighbours, AreFollowedOnlyWhereTheyAgree) {
  Calls calls({kSplit});
  calls.compare({300, 100, 400});
  EXPECT_EQ(first_call(calls, 2 * kBytes), kept(Route::other, 1));
  // The other one has found the MPI to be the fastest.
  const auto next = [&] {
    return call_once(calls.trials, {kAllreduce, 4 * kBytes}, calls.oob, calls.others,
                     [](int candidate) { return candidate == 2 ? 1u : 9u; });
  };
  while (next() != kept(Route::native, 2)) continue;
  EXPECT_EQ(first_call(calls, 2 * kBytes), kRules);
  EXPECT_EQ(first_call(calls, 8 * kBytes), kept(Route::native, 2));
}

// It counts more what a class has found itself.
TEST(Neighbours, AreNotFollowedByAClassThatHasBeenCompared) {
  Calls calls({kSplit});
  const auto next = [&](std::size_t bytes, unsigned split) {
    return call_once(calls.trials, {kAllreduce, bytes}, calls.oob, calls.others,
                     [&](int candidate) { return candidate == 1 ? split : 100u; });
  };
  for (int i = 0; i < 1000; ++i) next(2 * kBytes, 300);
  while (next(kBytes, 10) != kept(Route::other, 1)) continue;
  EXPECT_EQ(next(2 * kBytes, 300), kRules);
  EXPECT_EQ(next(kBytes / 2, 300), kept(Route::other, 1));
}

// Nonblocking and persistent calls follow what others have learnt, and change nothing.
TEST(Learnt, IsTheBestOfSumacs) {
  const auto learnt = [](Calls& calls) {
    return calls.trials.learnt(kAllreduce, kBytes, calls.results, kChosen,
                               [&] { return calls.others; });
  };
  for (int fastest = 0; fastest < 4; ++fastest) {
    Calls calls({kSplit, kFlat});
    for (int i = 0; i < 1000; ++i) EXPECT_EQ(learnt(calls), kChosen);
    calls.expect(calls.before(), kRules);
    std::vector<std::uint64_t> times{150, 140, 120, 200};
    times[static_cast<std::size_t>(fastest)] = 100;
    calls.compare(times);
    const Choice want[] = {kChosen, kSplit, kFlat, kFlat};
    EXPECT_EQ(learnt(calls), want[fastest]);
  }
}

// Each timed call takes as long as its candidate does, the MPI's first one twice as long, and each
// agreement a while. Trials never take more than a twentieth of a class's time, but for the first
// round with a candidate that is more than four times as slow as the rules' choice; and in the end,
// not with that one either.
TEST(Regret, IsATwentieth) {
  std::mt19937 random(11);
  for (int seed = 0; seed < 300; ++seed) {
    Calls calls(seed % 3 == 0 ? std::vector<Choice>{} : std::vector<Choice>{kSplit, kFlat});
    const int candidates = calls.others.empty() ? 2 : 4;
    std::vector<std::uint64_t> times;
    for (int i = 0; i < candidates; ++i)
      times.push_back(1000 + random() % 1000 * (1 + random() % 9));
    const std::uint64_t least_own = *std::min_element(times.begin(), times.end() - 1);
    const bool is_usual = *std::max_element(times.begin(), times.end()) <= 4 * times[0];
    const std::uint64_t agreement = random() % 20000;
    calls.trials.note_agreement(agreement);
    std::uint64_t cost = 0, all = 0;
    int turns = 0, rounds = 0;
    for (int i = 0; i < 12000; ++i) {
      const Turn turn = calls.next(times);
      if (calls.oob.agreements > rounds) {
        rounds = calls.oob.agreements;
        cost += agreement;
        all += agreement;
      }
      // The MPI's function serves only once it has had its row. Where the rules' choice is a little
      // slower than the fastest, it serves all the same.
      const bool mpi_serves =
          calls.trials.of(kAllreduce, kBytes, calls.results).kept() == candidates - 1;
      const std::uint64_t least = mpi_serves ? std::min(least_own, times.back()) : least_own;
      const bool warms_up = turn.kind == TurnKind::warm_up;
      const std::uint64_t time = times[turn.candidate] * (warms_up ? Comparison::kFirstCall : 1);
      const std::uint64_t served = times[0] > least + least / 8 ? least : std::max(least, times[0]);
      if (turn.kind != TurnKind::none && time > served) cost += time - served;
      all += time;
      turns += turn.kind == TurnKind::timed;
      const bool is_first = turns <= 2 * candidates;
      const bool is_known = is_usual || !is_first;
      ASSERT_TRUE(!is_known || turn.kind == TurnKind::none || 20 * cost <= all) << seed << " " << i;
    }
    EXPECT_LE(20 * cost, all) << seed;
  }
}

// A machine changes its mode. What was the fastest before is served until the next comparison, and
// no longer.
TEST(Modes, AreFoundAtTheNextComparison) {
  Calls calls({kSplit});
  std::mt19937 random(3);
  for (int mode = 0; mode < 12; ++mode) {
    std::vector<std::uint64_t> times(3, 300);
    times[random() % 3] = 100;
    const int fastest =
        static_cast<int>(std::min_element(times.begin(), times.end()) - times.begin());
    const int stays = 1000 + static_cast<int>(random() % 300000);
    int wrong = 0;
    for (int i = 0; i < stays; ++i) wrong += calls.next(times).candidate != fastest;
    EXPECT_LE(wrong, static_cast<int>(Trial::kMostBetween) + 500);
    while (calls.next(times).candidate != fastest) ASSERT_LE(++wrong, 263000);
  }
}

}  // namespace
}  // namespace sumac::testing
