// SPDX-License-Identifier: BSD-3-Clause
// Trials of whether the MPI is faster: which calls are whose, what decides, and that all ranks of a
// team decide the same from times of their own.
#include "team/trials.h"

#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <random>

#include "testing/one_process.h"
#include "testing/thread_team.h"

namespace sumac::testing {
namespace {

constexpr Collective kAllreduce = Collective::allreduce;
constexpr std::uint64_t kAll = ~std::uint64_t{0};

// The reduction of one rank's words is the words.
struct LoneOob final : Oob {
  void all_gather(const void*, void*, std::size_t) override {}
  void all_and(std::uint64_t*, std::size_t) override {}
  void all_max(std::uint64_t*, std::size_t) override { ++agreements; }
  void broadcast(void*, std::size_t) override {}
  bool make_messages(const std::vector<int>&, std::shared_ptr<Messages>&) override { return false; }
  void drive() override {}
  void end_job() override {}
  int agreements = 0;
};

// What the back end does for a call, with a time of `ns_of(turn)`. Nothing is counted where the
// class is closed.
template <class TimeOf>
Turn one_call(Trials& trials, Collective collective, std::size_t bytes, Oob& oob, TimeOf ns_of) {
  if (!trials.is_open(collective, bytes)) return Turn::as_ever;
  Trial& trial = trials.of(collective, bytes);
  if (trial.is_over()) trials.settle(collective, bytes, oob);
  const Turn turn = trials.next(trial);
  if (turn == Turn::sumac || turn == Turn::native) trial.note(turn, ns_of(turn));
  return turn;
}

// One rank's calls of one class.
struct Calls {
  explicit Calls(bool again = false) {
    std::uint64_t classes[kNumCollectives] = {};
    for (std::uint64_t& each : classes) each = kAll;
    trials.open(classes, again);
  }
  Turn next(std::uint64_t sumac, std::uint64_t mpi) {
    return one_call(trials, kAllreduce, 1000, oob,
                    [&](Turn turn) { return turn == Turn::native ? mpi : sumac; });
  }
  // All of the next `count` calls are `turn`.
  void expect(std::uint32_t count, Turn turn, std::uint64_t sumac = 1, std::uint64_t mpi = 1) {
    for (std::uint32_t i = 0; i < count; ++i) ASSERT_EQ(next(sumac, mpi), turn) << i;
  }
  void expect_turns(std::uint64_t sumac, std::uint64_t mpi) {
    for (int i = 0; i < Trial::kTurns; ++i) ASSERT_EQ(next(sumac, mpi), Trial::turn(i)) << i;
  }

  Trials trials;
  LoneOob oob;
};

TEST(Trials, ClassesArePowersOfTwo) {
  EXPECT_EQ(Trials::class_of(0), 0);
  for (int k = 1; k < 62; ++k) {
    const std::size_t first = std::size_t{1} << (k - 1);
    EXPECT_EQ(Trials::class_of(first), k);
    EXPECT_EQ(Trials::class_of(2 * first - 1), k);
  }
  EXPECT_LT(Trials::class_of(SIZE_MAX >> 1), Trials::kClasses);
}

TEST(Trials, NothingIsOpenUntilOpened) {
  Trials trials;
  for (const CollectiveInfo& info : kCollectives) {
    for (int k = 0; k < 63; ++k) EXPECT_FALSE(trials.is_open(info.collective, (1ull << k) - 1));
  }
}

TEST(Trials, SlowerThanTheMpiByMoreThanAnEighthIsHandedDown) {
  const struct {
    std::uint64_t sumac, mpi;
    bool down;
  } cases[] = {{100, 100, false}, {50, 100, false},  {112, 100, false},
               {113, 100, true},  {900, 800, false}, {901, 800, true},
               {9, 8, false},     {10, 8, true},     {1, 1, false},
               {2, 1, true},      {0, 1, false},     {kAll, kAll, false},
               {kAll, 1, true},   {1, kAll, false},  {900'000'000'000, 800'000'000'000, false}};
  for (const auto& each : cases) {
    Calls calls;
    calls.expect(Trial::kCallsBefore, Turn::as_ever);
    EXPECT_EQ(calls.oob.agreements, 0);
    calls.expect_turns(each.sumac, each.mpi);
    const Turn after = each.down ? Turn::handed_down : Turn::as_ever;
    calls.expect(3 * Trial::kCallsBetween, after);
    EXPECT_EQ(calls.oob.agreements, 1);
    // Calls that are kept cost one look at a bit.
    EXPECT_EQ(calls.trials.is_open(kAllreduce, 1000), each.down) << each.sumac << " " << each.mpi;
  }
}

// Where calls that follow a computation alternate with others that do not, or come in groups, both
// ways have as many of each.
TEST(Trials, APeriodOfTheProgramFavoursNeither) {
  for (const int period : {1, 2, 4, 8}) {
    for (int phase = 0; phase < period; ++phase) {
      int native = 0;
      for (int t = phase; t < Trial::kTurns; t += period) native += Trial::turn(t) == Turn::native;
      EXPECT_EQ(2 * native, Trial::kTurns / period) << period << " " << phase;
    }
  }
}

// One bad time of eight does not matter.
TEST(Trials, TheLeastTimeCounts) {
  for (int bad = 0; bad < Trial::kTurns; ++bad) {
    for (const bool down : {false, true}) {
      Calls calls;
      calls.expect(Trial::kCallsBefore, Turn::as_ever);
      const std::uint64_t sumac = down ? 200 : 100, mpi = 150;
      for (int t = 0; t < Trial::kTurns; ++t) {
        const std::uint64_t more = t == bad ? 1'000'000 : 0;
        calls.next(sumac + more, mpi + more);
      }
      calls.expect(5, down ? Turn::handed_down : Turn::as_ever);
    }
  }
}

TEST(Trials, ACallWithoutATimeIsStillATurn) {
  for (const bool down : {false, true}) {
    Calls calls;
    calls.expect(Trial::kCallsBefore, Turn::as_ever);
    for (int t = 0; t < Trial::kTurns; ++t) {
      Trial& trial = calls.trials.of(kAllreduce, 1000);
      const Turn turn = calls.trials.next(trial);
      // Every one of Sumac's has a time; of the MPI's, one or none.
      if (turn == Turn::sumac || (down && t == 4)) trial.note(turn, turn == Turn::native ? 5 : 100);
    }
    calls.expect(1, down ? Turn::handed_down : Turn::as_ever);
  }
}

TEST(Trials, LookedAtAgainOnlyWhereAsked) {
  Calls calls(true);
  calls.expect(Trial::kCallsBefore, Turn::as_ever);
  bool down = false;
  int agreements = 0;
  for (const bool slower : {false, true, true, false, true}) {
    calls.expect_turns(slower ? 300 : 100, 200);
    down = slower;
    calls.expect(Trial::kCallsBetween, down ? Turn::handed_down : Turn::as_ever);
    EXPECT_EQ(calls.oob.agreements, ++agreements);
    EXPECT_TRUE(calls.trials.is_open(kAllreduce, 1000));
  }
}

TEST(Trials, OpenedAnewNothingIsKnown) {
  Calls calls;
  calls.expect(Trial::kCallsBefore, Turn::as_ever);
  calls.expect_turns(300, 200);
  calls.expect(1, Turn::handed_down);
  calls.trials.close();
  calls.expect(1000, Turn::as_ever);
  std::uint64_t classes[kNumCollectives] = {};
  classes[static_cast<int>(kAllreduce)] = kAll;
  calls.trials.open(classes, false);
  calls.expect(Trial::kCallsBefore, Turn::as_ever);
  calls.expect_turns(100, 200);
  calls.expect(1000, Turn::as_ever);
}

// Against a plain account of what each call must be.
TEST(Trials, ClassesAndCollectivesAreApart) {
  std::mt19937 random(7);
  Calls calls;
  std::map<std::pair<int, int>, std::uint32_t> counts;
  for (int i = 0; i < 60000; ++i) {
    const auto collective = static_cast<Collective>(random() % kNumCollectives);
    const std::size_t bytes = random() % 40 ? random() % 64 : random();
    const int of_class = Trials::class_of(bytes);
    // In odd classes Sumac is slower.
    const Turn turn = one_call(calls.trials, collective, bytes, calls.oob, [&](Turn whose) {
      return static_cast<std::uint64_t>(whose == Turn::native ? 200 : 100 + of_class % 2 * 200);
    });
    const std::uint32_t before = counts[{static_cast<int>(collective), of_class}]++;
    Turn expected = Turn::as_ever;
    if (before >= Trial::kCallsBefore + Trial::kTurns) {
      expected = of_class % 2 ? Turn::handed_down : Turn::as_ever;
    } else if (before >= Trial::kCallsBefore) {
      expected = Trial::turn(static_cast<int>(before - Trial::kCallsBefore));
    }
    ASSERT_EQ(turn, expected) << before << " calls of class " << of_class << " before";
  }
}

// The classes of the collective with the choice of `forced` and the user's rule that are tried.
std::uint64_t free_with(const RuleSet& users, const char* forced, int radix = 0) {
  Capabilities capabilities;
  capabilities.ranks = 4;
  capabilities.node_radix = static_cast<std::uint16_t>(radix);
  return free_classes(ChoiceTable(users, capabilities, forced), kAllreduce, users.rules.size());
}

std::uint64_t classes_up_to(int most) { return (std::uint64_t{2} << most) - 1; }

TEST(FreeClasses, WithoutWishesAll) {
  EXPECT_EQ(free_with({}, ""), kAll);
  EXPECT_EQ(free_with({}, "bcast:slots"), kAll);
}

TEST(FreeClasses, WhatIsForcedIsNotTried) {
  EXPECT_EQ(free_with({}, "allreduce:split_slots") & classes_up_to(63 - 1), 0u);
  // Lines end at 2072 bytes, in class 12.
  EXPECT_EQ(free_with({}, "allreduce:flat_lines"), kAll & ~classes_up_to(12));
}

TEST(FreeClasses, SizesOfTheUsersRulesAreNotTried) {
  RuleSet users;
  add_rule(users, Over::shm, Algorithm::allreduce_split_slots, 0, 2);
  users.rules.back().bytes = {1024, 4095};
  EXPECT_EQ(free_with(users, ""), kAll & ~(classes_up_to(12) & ~classes_up_to(10)));
  // One size of a class is enough.
  users.rules.back().bytes = {1023, 4096};
  EXPECT_EQ(free_with(users, ""), kAll & ~(classes_up_to(13) & ~classes_up_to(9)));
  users.rules.back().bytes = {0, 0};
  EXPECT_EQ(free_with(users, ""), kAll & ~std::uint64_t{1});
}

TEST(FreeClasses, TreesOfAWantedRadixAreNotTried) {
  EXPECT_EQ(free_with({}, "", 1), kAll);
  EXPECT_NE(free_with({}, "", 4), kAll);
}

const char* const kValues[] = {"off", "exact", "all", "always"};

void set_adapt(ThreadTeam& all, Adapt adapt) {
  for (int r = 0; r < all.setting().ranks(); ++r) {
    all.process(r).options.adapt = static_cast<std::uint64_t>(adapt);
  }
}

TEST(OpenTrials, OfAllButTheCollectivesWhoseRanksShareNoBytes) {
  for (const int nodes : {1, 2}) {
    for (const Adapt adapt : {Adapt::off, Adapt::exact, Adapt::all, Adapt::always}) {
      SCOPED_TRACE(kValues[static_cast<int>(adapt)]);
      ThreadTeam all(setting_of(4, nodes), [&](ThreadTeam& team) { set_adapt(team, adapt); });
      open_trials(all[0]);
      for (const CollectiveInfo& info : kCollectives) {
        const bool never =
            info.collective == Collective::alltoallv || info.collective == Collective::reduce_local;
        const bool opened = all[0].trials.is_open(info.collective, 64);
        EXPECT_EQ(opened, adapt != Adapt::off && !never) << info.name;
      }
    }
  }
}

TEST(OpenTrials, OverLevelsNothingIsTriedWhereAnythingIsWanted) {
  Setting setting = setting_of(4, 2);
  setting.forced = "bcast:knomial";
  ThreadTeam all(setting, [](ThreadTeam& team) { set_adapt(team, Adapt::all); });
  open_trials(all[1]);
  EXPECT_FALSE(all[1].trials.is_open(kAllreduce, 64));
}

// Ranks with random times of their own take the same turns, and decide by the slowest of each, and
// without a root by the fastest too.
void expect_one_decision(Collective collective) {
  std::mt19937 random(3);
  for (const int ranks : {2, 3, 5}) {
    ThreadTeam all(setting_of(ranks, 1), [](ThreadTeam& team) { set_adapt(team, Adapt::always); });
    for (int round = 0; round < 20; ++round) {
      std::vector<TurnTimes> times(static_cast<std::size_t>(ranks));
      TurnTimes most, least{kAll, kAll};
      for (TurnTimes& own : times) {
        own = {100 + random() % 100, 100 + random() % 100};
        most = {std::max(own.sumac, most.sumac), std::max(own.native, most.native)};
        least = {std::min(own.sumac, least.sumac), std::min(own.native, least.native)};
      }
      std::vector<std::vector<Turn>> turns(times.size());
      all.each([&](Team& team, const Hello&) {
        const auto r = static_cast<std::size_t>(team.rank);
        open_trials(team);
        for (std::uint32_t i = 0; i <= Trial::kCallsBefore + Trial::kTurns; ++i) {
          turns[r].push_back(one_call(team.trials, collective, 8, team.oob, [&](Turn turn) {
            return turn == Turn::native ? times[r].native : times[r].sumac;
          }));
        }
      });
      for (const auto& of_rank : turns) EXPECT_EQ(of_rank, turns[0]);
      const auto slower = [](const TurnTimes& of) { return of.sumac > of.native + of.native / 8; };
      const bool down = slower(most) && (info_of(collective).has_root || slower(least));
      EXPECT_EQ(turns[0].back(), down ? Turn::handed_down : Turn::as_ever);
    }
  }
}

TEST(OpenTrials, AllRanksDecideTheSame) { expect_one_decision(kAllreduce); }
TEST(OpenTrials, WithARootTheSlowestDecides) { expect_one_decision(Collective::bcast); }

TEST(IsExact, WhatDoesNotDependOnWhoFolds) {
  EXPECT_TRUE(is_exact(Op::sum, DType::i32) && is_exact(Op::prod, DType::u64));
  EXPECT_TRUE(is_exact(Op::max, DType::f64) && is_exact(Op::min, DType::i8));
  EXPECT_TRUE(is_exact(Op::bxor, DType::u8) && is_exact(Op::land, DType::i16));
  EXPECT_TRUE(is_exact(Op::minloc, DType::f64_i32));
  for (const DType type : {DType::f16, DType::f32, DType::long_double, DType::c64}) {
    EXPECT_FALSE(is_exact(Op::sum, type) || is_exact(Op::prod, type)) << name_of(type);
  }
  EXPECT_FALSE(is_exact(Op::sum, DType::i16) || is_exact(Op::sum, DType::u8));
  EXPECT_FALSE(is_exact(Op::max, DType::u32) || is_exact(Op::min, DType::u64));
}

}  // namespace
}  // namespace sumac::testing
