// SPDX-License-Identifier: BSD-3-Clause
// The tests check how each call of a trial goes, when it begins and is repeated, which calls nobody
// looks at, and which classes are tried.
#include "team/trials.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "testing/lone_calls.h"
#include "testing/one_process.h"
#include "testing/thread_team.h"

namespace sumac::testing {
namespace {

constexpr std::uint64_t kAll = ~std::uint64_t{0};

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
    for (const Results results : {Results::any, Results::own}) {
      EXPECT_FALSE(trials.is_open(info.collective, 8, results));
    }
  }
}

TEST(Trials, TheFastestServesAfterTheFirstCalls) {
  for (int fastest = 0; fastest < 4; ++fastest) {
    Calls calls({kSplit, kFlat});
    calls.expect(calls.before(), kRules);
    EXPECT_EQ(calls.oob.agreements, 0);
    std::vector<std::uint64_t> times(4, 120);
    times[static_cast<std::size_t>(fastest)] = 100;
    const auto turns = calls.compare(times);
    // The MPI warms up, and if it is the best, it and the rules' choice have a row.
    EXPECT_EQ(calls.oob.agreements, fastest < 3 ? 4 : 5);
    for (int i = 0; i < 4; ++i) {
      const bool has_row = fastest == 3 && (i == 0 || i == 3);
      EXPECT_EQ(turns.at(i), (i < 3 ? 16 : 17) + (has_row ? Comparison::kRow : 0));
    }
    const Route route = fastest == 0 ? Route::rules : fastest < 3 ? Route::other : Route::native;
    calls.expect(1000, kept(route, fastest));
    const Candidates& all = calls.trials.of(kAllreduce, kBytes, Results::any).candidates();
    EXPECT_EQ(all.other(1), kSplit);
    EXPECT_EQ(all.other(2), kFlat);
  }
}

// Ranks of a call that may return early must not wait for others to agree.
TEST(Trials, CallsThatMayReturnEarlyLeaveTheAgreementToOthers) {
  Calls calls;
  const auto next_bcast = [&] {
    return call_once(calls.trials, {Collective::bcast, 8, Results::any}, calls.oob, {},
                     [](int candidate) { return candidate == 1 ? 1u : 9u; });
  };
  for (std::uint32_t i = 0; i < calls.before(); ++i) ASSERT_EQ(next_bcast(), kRules);
  for (const int turns : {5, 16}) {  // a mixed round and the MPI's warm-up; two rows
    Turn turn = next_bcast();
    while (turn.kind == TurnKind::none) turn = next_bcast();
    for (int i = 1; i < turns; ++i) ASSERT_NE(next_bcast().kind, TurnKind::none);
    const int before = calls.oob.agreements;
    for (int i = 0; i < 1000; ++i) ASSERT_EQ(next_bcast(), kRules);
    EXPECT_EQ(calls.oob.agreements, before);
    EXPECT_TRUE(calls.trials.wait_to_agree());
    calls.expect(1, kRules);
    EXPECT_EQ(calls.oob.agreements, before + 1);
    EXPECT_FALSE(calls.trials.wait_to_agree());
  }
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(next_bcast(), kept(Route::native, 1));
}

// While a second round waits for the ranks to agree, the best of the first one serves. The MPI's
// function does so only if the comparison before has ended with it.
TEST(Trials, WhatIsFasterServesBeforeTheEnd) {
  for (const int fastest : {1, 2}) {
    Calls calls({kSplit});
    const auto next_bcast = [&] {
      return call_once(calls.trials, {Collective::bcast, 8, Results::any}, calls.oob, calls.others,
                       [&](int candidate) { return candidate == fastest ? 100u : 140u; });
    };
    const Turn best = fastest == 1 ? kept(Route::other, 1) : kept(Route::native, 2);
    for (const Turn first : {fastest == 1 ? best : kRules, best}) {
      for (int round = 0; round < 2; ++round) {
        while (!calls.trials.wait_to_agree()) next_bcast();
        if (round == 0) settle(calls.trials, calls.oob);
      }
      for (int i = 0; i < 10; ++i) ASSERT_EQ(next_bcast(), first);
      const Trial& trial = calls.trials.of(Collective::bcast, 8, Results::any);
      while (trial.is_comparing()) {
        next_bcast();
        if (calls.trials.wait_to_agree()) settle(calls.trials, calls.oob);
      }
      EXPECT_EQ(next_bcast(), best);
    }
  }
}

// Calls whose results must be Sumac's are tried apart, and never with the MPI.
TEST(Trials, CallsOfOwnResultsKnowNothingOfTheOthers) {
  Calls any;
  any.expect(any.before(), kRules);
  EXPECT_EQ(any.compare({300, 100}).size(), 2u);
  any.expect(1, kept(Route::native, 1));
  any.results = Results::own;
  any.others = {kSplit};
  any.expect(any.before(), kRules);
  EXPECT_EQ(any.compare({300, 400}), (std::map<int, int>{{0, 8}, {1, 8}}));
  any.expect(100, kRules);
  any.results = Results::any;
  any.expect(100, kept(Route::native, 1));
}

TEST(Trials, WithoutARivalNothingIsCompared) {
  Calls calls({}, Results::own);
  calls.expect(3 * Trial::kCallsBetween, kRules);
  EXPECT_EQ(calls.oob.agreements, 0);
}

TEST(Trials, ACallWithoutATimeIsStillATurn) {
  for (const bool slower : {false, true}) {
    Calls calls({kSplit}, Results::own);
    calls.expect(calls.before(), kRules);
    const auto find_others = [&] { return calls.others; };
    // Each call by the rules has a time; of those by the other algorithm, one has or none.
    for (int i = 0; i < 4; ++i) {
      const Turn turn = calls.trials.next(kAllreduce, kBytes, Results::own, kChosen, find_others);
      ASSERT_NE(turn.kind, TurnKind::none);
      Trial& trial = calls.trials.of(kAllreduce, kBytes, Results::own);
      if (turn.route == Route::rules) trial.note(100);
      if (turn.route == Route::other && slower && i < 2) trial.note(5);
    }
    EXPECT_TRUE(calls.trials.wait_to_agree());
    settle(calls.trials, calls.oob);
    Trial& trial = calls.trials.of(kAllreduce, kBytes, Results::own);
    EXPECT_EQ(trial.is_comparing(), !slower);
    EXPECT_EQ(trial.kept(), slower);
  }
}

// After 16384 calls, and after twice as many each time that the outcome is the same, up to 262144.
TEST(Trials, LookedAtAgainNowAndThen) {
  Calls calls({kSplit});
  calls.expect(calls.before(), kRules);
  std::uint32_t between = 0;
  int before = -1;
  for (const int fastest : {0, 0, 2, 1, 1, 1, 1, 1, 1, 1, 0}) {
    std::vector<std::uint64_t> times(3, 120);
    times[static_cast<std::size_t>(fastest)] = 100;
    const bool is_first = before < 0;
    // The MPI is warmed up once.
    EXPECT_EQ(calls.compare(times).at(2), 16 + is_first + (fastest == 2 ? Comparison::kRow : 0));
    between = fastest == before ? std::min(2 * between, 1u << 18) : 1u << 14;
    before = fastest;
    const Route routes[] = {Route::rules, Route::other, Route::native};
    calls.expect(between, kept(routes[fastest], fastest));
  }
}

TEST(Trials, OpenedAnewNothingIsKnown) {
  Calls calls;
  calls.expect(calls.before(), kRules);
  calls.compare({300, 200});
  calls.expect(1, kept(Route::native, 1));
  open_all(calls.trials);
  calls.expect(calls.before(), kRules);
  EXPECT_EQ(calls.compare({100, 200}).at(1), 5);
  calls.expect(1000, kRules);
}

// The trials are compared with a plain account of what each call must be.
TEST(Trials, ClassesAndCollectivesAreApart) {
  std::mt19937 random(7);
  Calls calls;
  struct Account {
    std::uint32_t calls = 0;
    int turns = 0;
  };
  std::map<std::pair<int, int>, Account> accounts;
  for (int i = 0; i < 60000; ++i) {
    const auto collective = static_cast<Collective>(random() % kNumCollectives);
    const std::size_t bytes = random() % 40 ? random() % 64 : random();
    const int of_class = Trials::class_of(bytes);
    if (calls.trials.wait_to_agree()) settle(calls.trials, calls.oob);
    // The rules are slower for every other collective. The slower one has two rounds, and rows
    // follow if the MPI is the faster one.
    const bool is_slow = static_cast<int>(collective) % 2;
    const int all_turns = is_slow ? 9 + 2 * Comparison::kRow : 9;
    const Turn turn =
        call_once(calls.trials, {collective, bytes}, calls.oob, {},
                  [&](int candidate) { return candidate == 1 ? 200u : 100 + is_slow * 201u; });
    Account& account = accounts[{static_cast<int>(collective), of_class}];
    account.turns += turn.kind != TurnKind::none;
    ASSERT_TRUE(account.turns == 0 || account.calls >= calls.before());
    ++account.calls;
    ASSERT_LE(account.turns, all_turns);
    if (turn.kind != TurnKind::none) continue;
    // Before, it goes by the rules, or as a class beside it.
    if (account.turns == all_turns || !is_slow) {
      ASSERT_EQ(turn, is_slow ? kept(Route::native, 1) : kRules) << account.calls;
    }
  }
  for (const auto& [key, account] : accounts) {
    const int all_turns = key.first % 2 ? 9 + 2 * Comparison::kRow : 9;
    EXPECT_TRUE(account.calls < 500 || account.turns == all_turns)
        << key.first << " " << key.second;
  }
}

// Calls of a class at rest are not told to the trials, and count.
TEST(Rest, LastsUntilTheClassIsLookedAtAgain) {
  Calls calls;
  calls.expect(calls.before(), kRules);
  EXPECT_TRUE(calls.is_awake());
  calls.compare({100, 300});
  EXPECT_TRUE(calls.is_awake());
  for (std::uint32_t i = 0; i < Trial::kCallsBetween; ++i) {
    ASSERT_EQ(calls.next(), kRules);
    // Looking alone does not count.
    ASSERT_EQ(calls.is_awake(), i == Trial::kCallsBetween - 1) << i;
  }
  EXPECT_EQ(calls.compare({100, 300}).at(1), 2);
  // Where another candidate serves, each call is told.
  Calls others;
  others.expect(others.before(), kRules);
  others.compare({300, 100});
  for (int i = 0; i < 100; ++i) {
    ASSERT_EQ(others.next(), kept(Route::native, 1));
    ASSERT_TRUE(others.is_awake());
  }
}

// A round that is over wakes all classes, which lose no count.
TEST(Rest, IsTakenUpAgain) {
  Calls calls;
  calls.expect(calls.before(), kRules);
  calls.compare({100, 300});
  std::mt19937 random(3);
  std::uint32_t made = 0, woken = 0;
  for (std::size_t bytes = 1 << 16; made < Trial::kCallsBetween; bytes *= 2) {
    for (int i = 0; i < 50; ++i) {
      call_once(calls.trials, {Collective::bcast, bytes}, calls.oob, {},
                [](int candidate) { return candidate == 1 ? 300u : 100u; });
      woken += calls.is_awake();
      for (auto more = random() % 90; more > 0 && made < Trial::kCallsBetween; --more, ++made) {
        ASSERT_EQ(calls.next(), kRules);
      }
    }
  }
  EXPECT_GT(woken, 3u);
  EXPECT_NE(calls.next().kind, TurnKind::none);
}

TEST(Rest, WaitsForResultsOfBothKinds) {
  Calls calls;
  calls.results = Results::own;
  calls.others = {kSplit};
  calls.expect(1, kRules);
  calls.results = Results::any;
  calls.others = {};
  calls.expect(calls.before(), kRules);
  calls.compare({100, 300});
  calls.expect(10, kRules);
  EXPECT_TRUE(calls.is_awake());
  calls.results = Results::own;
  calls.others = {kSplit};
  calls.expect(calls.before() - 1, kRules);
  calls.compare({100, 300});
  calls.expect(1, kRules);
  EXPECT_FALSE(calls.is_awake());
  // Both are looked at again, by the count of the class.
  calls.expect(Trial::kCallsBetween - 10, kRules);
  EXPECT_TRUE(calls.is_awake());
  calls.results = Results::any;
  EXPECT_NE(calls.next().kind, TurnKind::none);
}

// The class is looked at as often as a number of 16 bits is used up, and laid at rest again.
TEST(Rest, LastsWhereNothingIsTried) {
  Trials trials;
  EXPECT_TRUE(is_awake(trials, kAllreduce, 8, true));
  for (int again = 0; again < 2; ++again) {
    trials.lay_at_rest(kAllreduce, 8);
    for (int i = 0; i < UINT16_MAX; ++i) ASSERT_FALSE(is_awake(trials, kAllreduce, 8, true));
    EXPECT_TRUE(is_awake(trials, kAllreduce, 8, true));
  }
  // Calls that take no turns, such as reductions by the program's functions, leave a class awake.
  open_all(trials);
  trials.lay_at_rest(kAllreduce, 8);
  EXPECT_TRUE(is_awake(trials, kAllreduce, 8, false));
}

// Returns the classes of the collective that are tried, with the choice of `forced` and the user's
// rules.
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
  // One size of a class in the rule is enough.
  users.rules.back().bytes = {1023, 4096};
  EXPECT_EQ(free_with(users, ""), kAll & ~(classes_up_to(13) & ~classes_up_to(9)));
  users.rules.back().bytes = {0, 0};
  EXPECT_EQ(free_with(users, ""), kAll & ~std::uint64_t{1});
}

TEST(FreeClasses, TreesOfAWantedRadixAreNotTried) {
  EXPECT_EQ(free_with({}, "", 1), kAll);
  EXPECT_NE(free_with({}, "", 4), kAll);
}

const char* const kValues[] = {"off", "exact", "all"};

void set_adapt(ThreadTeam& all, Adapt adapt) {
  for (int r = 0; r < all.setting().ranks(); ++r) {
    all.process(r).options.adapt = static_cast<std::uint64_t>(adapt);
  }
}

TEST(OpenTrials, OfAllButTheCollectivesWhoseRanksShareNoBytes) {
  for (const int nodes : {1, 2}) {
    for (const Adapt adapt : {Adapt::off, Adapt::exact, Adapt::all}) {
      SCOPED_TRACE(kValues[static_cast<int>(adapt)]);
      ThreadTeam all(setting_of(4, nodes), [&](ThreadTeam& team) { set_adapt(team, adapt); });
      open_trials(all[0]);
      for (const CollectiveInfo& info : kCollectives) {
        const bool never =
            info.collective == Collective::alltoallv || info.collective == Collective::reduce_local;
        const bool opened = all[0].trials.is_open(info.collective, 64, Results::any);
        EXPECT_EQ(opened, adapt != Adapt::off && !never) << info.name;
        // These are reductions that round, in one group.
        const bool own = all[0].trials.is_open(info.collective, 64, Results::own);
        EXPECT_EQ(own, opened && adapt == Adapt::exact && info.reduces && nodes == 1) << info.name;
      }
    }
  }
}

TEST(OpenTrials, OverLevelsNothingIsTriedWhereAnythingIsWanted) {
  Setting setting = setting_of(4, 2);
  setting.forced = "bcast:knomial";
  ThreadTeam all(setting, [](ThreadTeam& team) { set_adapt(team, Adapt::all); });
  open_trials(all[1]);
  EXPECT_FALSE(all[1].trials.is_open(kAllreduce, 64, Results::any));
}

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
