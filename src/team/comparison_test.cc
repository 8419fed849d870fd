// SPDX-License-Identifier: BSD-3-Clause
// The tests check which candidate has each turn, which are dropped after each round, and which one
// is kept in the end, from what the ranks agree on.
#include "team/comparison.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace sumac::testing {
namespace {

constexpr std::uint64_t kAll = ~std::uint64_t{0};
using Times = std::vector<std::uint64_t>;

// A comparison on one rank: it agrees with itself. `turns` counts what each candidate served.
struct Alone {
  explicit Alone(int candidates, Mpi mpi = Mpi::none) : comparison(candidates, mpi) {}

  // Plays a round in which the candidates take so long, and ends it.
  void play_round(const Times& times, bool has_root = false) {
    do {
      const Turn turn = comparison.next();
      ++turns[turn.candidate];
      if (turn.kind == TurnKind::timed && times[turn.candidate] > 0) {
        comparison.note(times[turn.candidate]);
      }
    } while (!comparison.round_is_over());
    std::uint64_t words[Comparison::kWords];
    comparison.write(words, 0);
    comparison.settle(words, has_root);
  }
  // Returns what is kept.
  int play(const Times& times, bool has_root = false) {
    while (!comparison.has_ended()) play_round(times, has_root);
    return comparison.best();
  }

  Comparison comparison;
  std::map<int, int> turns;
};

const Choice kLines{Algorithm::allreduce_flat_lines}, kSplit{Algorithm::allreduce_split_slots},
    kFlat{Algorithm::allreduce_flat_slots};

TEST(Candidates, AreTheRulesThenOthersThenTheMpi) {
  const Candidates all(kLines, {kSplit, kFlat, {Algorithm::allreduce_tree}}, true);
  ASSERT_EQ(all.count(), 4);
  EXPECT_EQ(all.own(), 3);
  EXPECT_EQ(all.route(0), Route::rules);
  EXPECT_EQ(all.route(1), Route::other);
  EXPECT_EQ(all.other(1), kSplit);
  EXPECT_EQ(all.other(2), kFlat);
  EXPECT_EQ(all.route(3), Route::native);
  const Candidates with_mpi(kLines, {}, true), one(kLines, {}, false);
  ASSERT_EQ(with_mpi.count(), 2);
  EXPECT_EQ(with_mpi.route(1), Route::native);
  EXPECT_EQ(one.count(), 1);
}

TEST(Candidates, AreFoundAgainAmongOthers) {
  const Candidates all(kLines, {kSplit, kFlat}, true), fewer(kLines, {kFlat}, true);
  EXPECT_EQ(fewer.like(all, 0), 0);
  EXPECT_EQ(fewer.like(all, 1), 0);
  EXPECT_EQ(fewer.like(all, 2), 1);
  EXPECT_EQ(fewer.like(all, 3), 2);
  EXPECT_EQ(all.like(fewer, 1), 2);
  EXPECT_EQ(all.like(fewer, 2), 3);
  EXPECT_EQ(Candidates(kLines, {kFlat}, false).like(all, 3), 0);
  // They are faster than something else there.
  EXPECT_EQ(Candidates(kSplit, {kFlat}, true).like(all, 2), 0);
  EXPECT_EQ(Candidates(kSplit, {kFlat}, true).like(all, 3), 0);
}

// If calls that follow a computation alternate with others that do not, or come in groups, all
// candidates have the same number of each in a round that is so long.
TEST(Turns, APeriodOfTheProgramFavoursNone) {
  for (const int left : {2, 3, 4}) {
    for (int round = 0; round < Comparison::kRounds; ++round) {
      const int each = Comparison::kTurns[round];
      for (int period = 1; period <= each; period *= 2) {
        std::map<std::pair<int, int>, int> counts;
        for (int t = 0; t < each * left; ++t) {
          ++counts[{candidate_of_turn(left, round, t), t % period}];
        }
        EXPECT_EQ(counts.size(), static_cast<std::size_t>(left * period));
        for (const auto& [key, count] : counts) EXPECT_EQ(count * period, each) << left;
      }
    }
  }
}

// Nor is any candidate confined to one call of a program that repeats three, five or six.
TEST(Turns, OtherPeriodsLeaveNoCandidateToOneCall) {
  for (const int left : {2, 3, 4}) {
    for (const int period : {3, 5, 6}) {
      std::map<int, std::map<int, int>> counts;
      const int last = Comparison::kRounds - 1, each = Comparison::kTurns[last];
      for (int t = 0; t < each * left; ++t) ++counts[candidate_of_turn(left, last, t)][t % period];
      for (const auto& [candidate, phases] : counts) {
        for (const auto& [phase, count] : phases) EXPECT_LE(count, each * 3 / 4) << left;
      }
    }
  }
}

TEST(Turns, TheFirstTwoRoundsOfTwoAreThoseOfThueAndMorse) {
  std::string order;
  for (const int round : {0, 1}) {
    for (int t = 0; t < 4; ++t) order += "AB"[candidate_of_turn(2, round, t)];
  }
  EXPECT_EQ(order, "ABBABAAB");
}

TEST(Comparison, TheLastCandidateIsWarmedUp) {
  for (const int candidates : {2, 3, 4}) {
    Comparison comparison(candidates, Mpi::cold);
    const Turn first = comparison.next();
    EXPECT_EQ(first.kind, TurnKind::warm_up);
    EXPECT_EQ(first.candidate, candidates - 1);
    for (int t = 0; t < 2 * candidates; ++t) {
      ASSERT_FALSE(comparison.round_is_over());
      EXPECT_EQ(comparison.next().kind, TurnKind::timed);
    }
    EXPECT_TRUE(comparison.round_is_over());
    for (const Mpi mpi : {Mpi::none, Mpi::warm, Mpi::serves}) {
      EXPECT_EQ(Comparison(candidates, mpi).next().kind, TurnKind::timed);
    }
  }
}

TEST(Comparison, SlowOnesAreDroppedRoundByRound) {
  const struct {
    std::uint64_t slow;
    int turns;
  } cases[] = {{100, 16}, {112, 16}, {113, 16}, {125, 16}, {126, 8},
               {150, 8},  {151, 4},  {200, 4},  {201, 2},  {300, 2}};
  for (const auto& each : cases) {
    for (const int slow : {0, 1, 2, 3}) {
      SCOPED_TRACE(::testing::Message() << each.slow << " " << slow);
      Times times(4, 100);
      times[static_cast<std::size_t>(slow)] = each.slow;
      Alone alone(4);
      const int kept = alone.play(times);
      EXPECT_EQ(alone.turns[slow], each.turns);
      // A first candidate that is slower by up to an eighth stays.
      EXPECT_EQ(kept, slow == 0 && each.slow > 112 ? 1 : 0);
      for (const int other : {0, 1, 2, 3}) {
        if (other != slow) {
          EXPECT_EQ(alone.turns[other], 16);
        }
      }
    }
  }
}

TEST(Comparison, EndsWhenOneIsLeft) {
  Alone alone(4);
  alone.play_round({500, 100, 250, 400});
  EXPECT_TRUE(alone.comparison.has_ended());
  EXPECT_EQ(alone.comparison.best(), 1);
  EXPECT_EQ(alone.comparison.time(0).greatest, 500u);
}

TEST(Comparison, ARivalFasterByMoreThanAnEighthIsKept) {
  const struct {
    std::uint64_t first, rival;
    bool faster;
  } cases[] = {{100, 100, false}, {50, 100, false},  {112, 100, false},
               {113, 100, true},  {900, 800, false}, {901, 800, true},
               {9, 8, false},     {10, 8, true},     {1, 1, false},
               {2, 1, true},      {0, 1, false},     {kAll, kAll, false},
               {kAll, 1, true},   {1, kAll, false},  {900'000'000'000, 800'000'000'000, false}};
  for (const auto& each : cases) {
    for (const bool has_root : {false, true}) {
      EXPECT_EQ(Alone(2).play({each.first, each.rival}, has_root), each.faster)
          << each.first << " " << each.rival;
    }
  }
}

// Whichever it is.
TEST(Comparison, TheFastestIsKept) {
  Times times{100, 120, 250, 400};
  do {
    const auto fastest = std::min_element(times.begin(), times.end()) - times.begin();
    EXPECT_EQ(Alone(4).play(times), fastest);
    EXPECT_EQ(Alone(4, Mpi::cold).play(times), fastest);
  } while (std::next_permutation(times.begin(), times.end()));
}

// While the next round is under way, too.
TEST(Comparison, WhatIsBestSoFarIsKnown) {
  Alone alone(3);
  EXPECT_EQ(alone.comparison.best(), 0);
  alone.play_round({190, 180, 100});
  EXPECT_FALSE(alone.comparison.has_ended());
  EXPECT_EQ(alone.comparison.best(), 2);
  // The least times of all rounds count.
  alone.play_round({90, 180, 100});
  EXPECT_EQ(alone.comparison.best(), 0);
}

// One bad time of two does not matter, whenever it comes.
TEST(Comparison, TheLeastTimeCounts) {
  for (int bad = 0; bad < 16; ++bad) {
    for (const bool slower : {false, true}) {
      Comparison comparison(2, Mpi::none);
      for (int t = 0; !comparison.has_ended();) {
        for (; !comparison.round_is_over(); ++t) {
          const int time = comparison.next().candidate == 1 ? 150 : slower ? 180 : 150;
          comparison.note(static_cast<std::uint64_t>(t == bad ? 1'000'000 : time));
        }
        std::uint64_t words[Comparison::kWords];
        comparison.write(words, 0);
        comparison.settle(words, false);
      }
      EXPECT_EQ(comparison.best(), slower) << bad;
    }
  }
}

// A candidate without any time is never kept for it, and drives none out.
TEST(Comparison, WithoutATimeNothingIsKnown) {
  EXPECT_EQ(Alone(2).play({100, 0}), 0);
  EXPECT_EQ(Alone(2).play({0, 100}), 0);
  EXPECT_EQ(Alone(3).play({300, 0, 100}), 1);  // the first that is not known to be slower
}

// Settles a round in which ranks had these times of two candidates.
int best_of(const AgreedTime& first, const AgreedTime& rival, bool has_root) {
  Comparison comparison(2, Mpi::none);
  const std::uint64_t words[Comparison::kWords] = {first.greatest, ~first.least, rival.greatest,
                                                   ~rival.least};
  comparison.settle(words, has_root);
  return comparison.best();
}

TEST(Comparison, WithoutARootTheFastestRankMustSaySoToo) {
  EXPECT_EQ(best_of({300, 150}, {200, 100}, false), 1);
  EXPECT_EQ(best_of({300, 100}, {200, 100}, false), 0);
  EXPECT_EQ(best_of({300, 100}, {200, 100}, true), 1);
  EXPECT_EQ(best_of({200, 300}, {200, 100}, false), 0);
  EXPECT_EQ(best_of({200, 300}, {200, 100}, true), 0);
}

// A candidate that has been dropped may be the best of these.
TEST(Comparison, TheBestOfSumacsOwnIsKnown) {
  Alone alone(4, Mpi::cold);
  EXPECT_EQ(alone.comparison.best_own(), 0);
  alone.play_round({400, 350, 300, 100});
  EXPECT_EQ(alone.comparison.best_own(), 2);
  for (const Times& times : {Times{100, 140, 100}, Times{140, 100, 120}, Times{140, 120, 100}}) {
    Alone others(3, Mpi::warm);
    others.play(times);
    EXPECT_EQ(others.comparison.best_own(), times[0] == 100 ? 0 : 1);
  }
}

// Plays the mixed rounds of Sumac's candidate and a faster MPI, and its rows with these times.
Comparison after_rows(std::uint64_t own, std::uint64_t mpis, bool has_root, Mpi mpi = Mpi::warm) {
  Alone alone(2, mpi);
  alone.play_round({300, 100}, has_root);
  EXPECT_FALSE(alone.comparison.has_ended());
  EXPECT_EQ(alone.comparison.best(), mpi == Mpi::serves);
  alone.play_round({own, mpis}, has_root);
  EXPECT_TRUE(alone.comparison.has_ended());
  EXPECT_EQ(alone.turns[0], 2 + Comparison::kRow);
  EXPECT_EQ(alone.turns[1], 2 + Comparison::kRow);
  return alone.comparison;
}

// The sums count now, and not the least times, which have been compared before.
TEST(Comparison, TheMpiIsDroppedIfItsRowTakesHalfAsLongAgain) {
  for (const bool has_root : {false, true}) {
    EXPECT_EQ(after_rows(100, 90, has_root).best(), 1);
    EXPECT_EQ(after_rows(100, 150, has_root).best(), 1);
    EXPECT_EQ(after_rows(100, 151, has_root).best(), 0);
    EXPECT_EQ(after_rows(100, kAll, has_root).best(), 0);
    // Without a time nothing is known.
    EXPECT_EQ(after_rows(0, 500, has_root).best(), 1);
  }
  EXPECT_EQ(after_rows(100, 90, false).row(0).greatest, 800u);
}

TEST(Comparison, ARowIsOneCandidatesCallsOneAfterAnother) {
  Alone alone(4, Mpi::warm);
  alone.play_round({400, 300, 350, 100});
  std::string order;
  while (!alone.comparison.round_is_over()) order += "ABCD"[alone.comparison.next().candidate];
  EXPECT_EQ(order, "BBBBBBBBDDDDDDDD");
}

TEST(Comparison, OnlyTheMpiHasARow) {
  for (const Times& times : {Times{100, 300, 300}, Times{300, 100, 300}}) {
    Alone alone(3, Mpi::warm);
    alone.play_round(times);
    EXPECT_TRUE(alone.comparison.has_ended());
  }
  Alone none(3);
  none.play_round({300, 300, 100});
  EXPECT_TRUE(none.comparison.has_ended());
}

// If one rank is not slower in its row, the others have only waited for it.
TEST(Comparison, WithoutARootAllRanksMustBeSlowerInTheRow) {
  for (const bool has_root : {false, true}) {
    Alone alone(2, Mpi::warm);
    alone.play_round({300, 100}, has_root);
    const std::uint64_t words[Comparison::kWords] = {800, ~std::uint64_t{800}, 4000,
                                                     ~std::uint64_t{800}};
    alone.comparison.settle(words, has_root);
    EXPECT_EQ(alone.comparison.best(), has_root ? 0 : 1);
  }
}

// A turn that takes twice as long as the best is paid for by twenty calls.
TEST(Comparison, CallsPayForTurns) {
  Alone alone(3);
  EXPECT_EQ(alone.comparison.calls_to_pay(), 0u);
  alone.play_round({100, 150, 300});  // the last one is dropped
  EXPECT_EQ(alone.comparison.calls_to_pay(), 20 * (2 * (50 + 200) + 2 * 50) / 100u);
  alone.play_round({100, 150, 300});
  EXPECT_EQ(alone.comparison.calls_to_pay(), 20 * (2 * (50 + 200) + 2 * 50 + 4 * 50) / 100u);
  alone.play_round({100, 150, 300});
  EXPECT_TRUE(alone.comparison.has_ended());
  EXPECT_EQ(alone.comparison.calls_to_pay(), 20 * (2 * (50 + 200) + 2 * 50 + 4 * 50) / 100u);
  // The turns of the best cost nothing, whichever it is.
  for (const Times& times : {Times{100, 100}, Times{500, 100}, Times{100, 500}}) {
    Alone two(2);
    two.play(times);
    EXPECT_EQ(two.comparison.calls_to_pay(), times[0] == times[1] ? 0u : 160u);
  }
  // A row costs what it takes longer than one by what serves.
  EXPECT_EQ(after_rows(300, 100, false).calls_to_pay(), 0u);
  EXPECT_EQ(after_rows(300, 600, false).calls_to_pay(), 20 * 8 * 300 / 300u);
  EXPECT_EQ(after_rows(300, 100, false, Mpi::serves).calls_to_pay(), 20 * (2 + 8) * 200 / 100u);
  // Each rival is taken to need four times as long, and the MPI's first call twice as long as its
  // others.
  static_assert(Comparison::calls_before(2, false) == 20 * 2 * 3);
  static_assert(Comparison::calls_before(4, true) == 20 * (3 * 2 * 3 + 2 * 4 - 1));
}

// The ranks' least time of an agreement counts, once all know one.
TEST(Comparison, CallsPayForAgreements) {
  for (const std::uint64_t ns : {std::uint64_t{0}, std::uint64_t{70}}) {
    Comparison comparison(2, Mpi::none);
    for (const std::uint64_t rounds : {1u, 2u, 3u}) {
      while (!comparison.round_is_over()) {
        comparison.next();
        comparison.note(100);
      }
      std::uint64_t own[Comparison::kWords], other[Comparison::kWords];
      comparison.write(own, ns);
      comparison.write(other, 90);
      for (int i = 0; i < Comparison::kWords; ++i) own[i] = std::max(own[i], other[i]);
      comparison.settle(own, false);
      EXPECT_EQ(comparison.calls_to_pay(), 20 * (rounds + 1) * ns / 100);
    }
  }
}

// Whatever ranks agree on, something is kept, and the rounds end.
TEST(Comparison, EndsWhateverTheTimesAre) {
  std::mt19937_64 random(5);
  for (int i = 0; i < 20000; ++i) {
    const int candidates = 2 + i % 3;
    const auto mpi = static_cast<Mpi>(i / 3 % 4);
    Comparison comparison(candidates, mpi);
    int turns = 0;
    while (!comparison.has_ended()) {
      for (; !comparison.round_is_over(); ++turns) {
        ASSERT_LT(comparison.next().candidate, candidates);
      }
      std::uint64_t words[Comparison::kWords];
      for (std::uint64_t& word : words) word = random() >> random() % 64;
      comparison.settle(words, i % 7 == 0);
      ASSERT_LT(comparison.best(), candidates);
      ASSERT_LE(comparison.calls_to_pay(), Comparison::kMostCalls);
      ASSERT_LT(comparison.best_own(), candidates - (mpi != Mpi::none));
    }
    ASSERT_LE(turns, 16 * candidates + 1 + 2 * Comparison::kRow);
  }
}

}  // namespace
}  // namespace sumac::testing
