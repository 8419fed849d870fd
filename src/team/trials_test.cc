// SPDX-License-Identifier: BSD-3-Clause
// The tests check how each call of a trial goes, what decides, and that all ranks of a team decide
// the same from times of their own.
#include "team/trials.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <random>

#include "testing/one_process.h"
#include "testing/thread_team.h"

namespace sumac::testing {
namespace {

constexpr Collective kAllreduce = Collective::allreduce;
constexpr std::uint64_t kAll = ~std::uint64_t{0};
const std::uint32_t kBefore = Trials::calls_before(1000);

// A reduction over one rank leaves the words as they are.
struct LoneOob final : Oob {
  void all_gather(const void*, void*, std::size_t) override {}
  void gather(const void*, void*, std::size_t) override {}
  bool all_gather_among(const RankList&, const void*, void*, std::size_t) override { return true; }
  void all_and(std::uint64_t*, std::size_t) override {}
  void all_max(std::uint64_t*, std::size_t) override { ++agreements; }
  void broadcast(void*, std::size_t) override {}
  bool make_messages(std::shared_ptr<Messages>&) override { return false; }
  void drive() override {}
  void end_job() override {}
  int agreements = 0;
};

const Turn kRules, kTimedRules{Route::rules, true}, kTimedOther{Route::other, true},
    kTimedMpi{Route::native, true}, kOther{Route::other, false}, kMpi{Route::native, false};

// Times (ns) of a call by each route.
struct Times {
  std::uint64_t rules = 1, other = 1, mpi = 1;
  std::uint64_t of(Route route) const {
    return route == Route::rules ? rules : route == Route::other ? other : mpi;
  }
};
const Choice kNoOther, kSplit{Algorithm::allreduce_split_slots};

void settle(Trials& trials, Oob& oob) {
  trials.agree(oob, [](Collective, std::size_t, const Trial&, const Compared&) {});
}

// Does what the back end does for a call from which no rank returns early. Nothing is counted if
// the class is closed.
template <class TimeOf>
Turn one_call(Trials& trials, Collective collective, std::size_t bytes, Oob& oob, TimeOf ns_of,
              const Choice& other = kNoOther, Results results = Results::any) {
  if (trials.wait_to_agree()) settle(trials, oob);
  if (!trials.is_open(collective, bytes, results)) return kRules;
  const Turn turn = trials.next(collective, bytes, results, [&] { return other; });
  if (turn.timed) trials.of(collective, bytes, results).note(turn.route, ns_of(turn.route));
  return turn;
}

struct AllClasses {
  AllClasses() {
    for (std::uint64_t& each : classes) each = kAll;
  }
  Trials::Classes classes;
};

// These are one rank's calls of one class.
struct Calls {
  explicit Calls(const Choice& its_other = kNoOther, Results its_results = Results::any,
                 bool again = false)
      : other(its_other), results(its_results) {
    const AllClasses all;
    trials.open(all.classes, all.classes, again);
  }
  Turn next(const Times& times = {}) {
    return one_call(
        trials, kAllreduce, 1000, oob, [&](Route route) { return times.of(route); }, other,
        results);
  }
  // Expects that all of the next `count` calls are `turn`.
  void expect(std::uint32_t count, Turn turn, const Times& times = {}) {
    for (std::uint32_t i = 0; i < count; ++i) ASSERT_EQ(next(times), turn) << i;
  }
  // Expects that the next calls compare the two.
  void expect_turns(Turn kept, Turn rival, const Times& times) {
    for (int i = 0; i < Trial::kTurns; ++i) {
      ASSERT_EQ(next(times), Trial::is_rivals(i) ? rival : kept) << i;
    }
  }
  bool is_open() const { return trials.is_open(kAllreduce, 1000, results); }

  Choice other;
  Results results;
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

// So many calls go once through 4 MiB, if data go through payloads at all.
TEST(Trials, ComeAfterTheFirstTouchOfMemory) {
  for (const std::size_t bytes : {0, 1, 8, 2047, 32 << 10, 64 << 10, 4 << 20, 1 << 30}) {
    EXPECT_EQ(Trials::calls_before(bytes), 128u) << bytes;
  }
  for (std::size_t bytes = 2048; bytes < 32 << 10; bytes *= 2) {
    EXPECT_EQ(Trials::calls_before(bytes) * bytes, std::size_t{4} << 20) << bytes;
    EXPECT_EQ(Trials::calls_before(2 * bytes - 1), Trials::calls_before(bytes));
  }
  EXPECT_EQ(Trials::calls_before(SIZE_MAX >> 1), 128u);
}

TEST(Trials, NothingIsOpenUntilOpened) {
  Trials trials;
  for (const CollectiveInfo& info : kCollectives) {
    EXPECT_EQ(trials.open_classes(info.collective), 0u);
  }
}

TEST(Trials, ARivalFasterByMoreThanAnEighthIsKept) {
  const struct {
    std::uint64_t rules, rival;
    bool faster;
  } cases[] = {{100, 100, false}, {50, 100, false},  {112, 100, false},
               {113, 100, true},  {900, 800, false}, {901, 800, true},
               {9, 8, false},     {10, 8, true},     {1, 1, false},
               {2, 1, true},      {0, 1, false},     {kAll, kAll, false},
               {kAll, 1, true},   {1, kAll, false},  {900'000'000'000, 800'000'000'000, false}};
  for (const auto& each : cases) {
    SCOPED_TRACE(::testing::Message() << each.rules << " " << each.rival);
    for (const bool mpi : {false, true}) {
      Calls calls(mpi ? kNoOther : kSplit, mpi ? Results::any : Results::own);
      calls.expect(kBefore, kRules);
      EXPECT_EQ(calls.oob.agreements, 0);
      calls.expect_turns(kTimedRules, mpi ? kTimedMpi : kTimedOther,
                         {each.rules, each.rival, each.rival});
      const Turn rival = mpi ? kMpi : kOther;
      calls.expect(3 * Trial::kCallsBetween, each.faster ? rival : kRules);
      EXPECT_EQ(calls.oob.agreements, 1);
      // Calls that stay with the rules cost one look at a bit.
      EXPECT_EQ(calls.is_open(), each.faster);
    }
  }
}

// The fastest of three routes is kept, whichever it is.
TEST(Trials, WhatIsKeptOfTwoIsComparedWithTheMpi) {
  std::uint64_t times[3] = {100, 200, 300};
  do {
    const Times each{times[0], times[1], times[2]};
    Calls calls(kSplit);
    calls.expect(kBefore, kRules);
    calls.expect_turns(kTimedRules, kTimedOther, each);
    const bool other = each.other < each.rules;
    calls.expect_turns(other ? kTimedOther : kTimedRules, kTimedMpi, each);
    const bool mpi = each.mpi < std::min(each.rules, each.other);
    calls.expect(1000, mpi ? kMpi : other ? kOther : kRules);
    EXPECT_EQ(calls.oob.agreements, 2);
    EXPECT_EQ(calls.trials.of(kAllreduce, 1000, Results::any).other(), kSplit);
  } while (std::next_permutation(std::begin(times), std::end(times)));
}

// Ranks of a call that may return early must not wait for others to agree.
TEST(Trials, CallsThatMayReturnEarlyLeaveTheAgreementToOthers) {
  Calls calls;
  const auto next_bcast = [&] {
    const Turn turn =
        calls.trials.next(Collective::bcast, 8, Results::any, [] { return kNoOther; });
    Trial& trial = calls.trials.of(Collective::bcast, 8, Results::any);
    if (turn.timed) trial.note(turn.route, turn.route == Route::native ? 1 : 9);
    return turn;
  };
  for (std::uint32_t i = 0; i < Trials::calls_before(8) + Trial::kTurns; ++i) next_bcast();
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(next_bcast(), kRules);
  EXPECT_EQ(calls.oob.agreements, 0);
  EXPECT_TRUE(calls.trials.wait_to_agree());
  calls.expect(1, kRules);
  EXPECT_EQ(calls.oob.agreements, 1);
  EXPECT_FALSE(calls.trials.wait_to_agree());
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(next_bcast(), kMpi);
}

// Calls whose results must be Sumac's are tried apart, and never with the MPI.
TEST(Trials, CallsOfOwnResultsKnowNothingOfTheOthers) {
  Calls any(kNoOther);
  any.expect(kBefore, kRules);
  any.expect_turns(kTimedRules, kTimedMpi, {300, 1, 200});
  any.expect(1, kMpi);
  any.results = Results::own;
  any.other = kSplit;
  any.expect(kBefore, kRules);
  any.expect_turns(kTimedRules, kTimedOther, {300, 400, 1});
  any.expect(100, kRules);
  EXPECT_FALSE(any.is_open());
  any.results = Results::any;
  any.expect(100, kMpi);
}

TEST(Trials, WithoutARivalNothingIsCompared) {
  for (const bool again : {false, true}) {
    Calls calls(kNoOther, Results::own, again);
    calls.expect(3 * Trial::kCallsBetween, kRules, {9, 1, 1});
    EXPECT_EQ(calls.oob.agreements, 0);
    EXPECT_EQ(calls.is_open(), again);
  }
}

// If calls that follow a computation alternate with others that do not, or come in groups, both
// ways have the same number of each.
TEST(Trials, APeriodOfTheProgramFavoursNeither) {
  for (const int period : {1, 2, 4, 8}) {
    for (int phase = 0; phase < period; ++phase) {
      int rivals = 0;
      for (int t = phase; t < Trial::kTurns; t += period) rivals += Trial::is_rivals(t);
      EXPECT_EQ(2 * rivals, Trial::kTurns / period) << period << " " << phase;
    }
  }
}

// One bad time of eight does not matter.
TEST(Trials, TheLeastTimeCounts) {
  for (int bad = 0; bad < Trial::kTurns; ++bad) {
    for (const bool slower : {false, true}) {
      Calls calls;
      calls.expect(kBefore, kRules);
      for (int t = 0; t < Trial::kTurns; ++t) {
        const std::uint64_t more = t == bad ? 1'000'000 : 0;
        calls.next({(slower ? 200 : 100) + more, 1, 150 + more});
      }
      calls.expect(5, slower ? kMpi : kRules);
    }
  }
}

TEST(Trials, ACallWithoutATimeIsStillATurn) {
  for (const bool slower : {false, true}) {
    Calls calls;
    calls.expect(kBefore, kRules);
    const auto find_other = [] { return kNoOther; };
    for (int t = 0; t < Trial::kTurns; ++t) {
      const Turn turn = calls.trials.next(kAllreduce, 1000, Results::any, find_other);
      Trial& trial = calls.trials.of(kAllreduce, 1000, Results::any);
      // Each call by the rules has a time; of those by the MPI, one has or none.
      if (turn == kTimedRules) trial.note(turn.route, 100);
      if (turn == kTimedMpi && slower && t == 4) trial.note(turn.route, 5);
    }
    calls.expect(1, slower ? kMpi : kRules);
  }
}

TEST(Trials, LookedAtAgainOnlyWhereAsked) {
  Calls calls(kSplit, Results::any, true);
  calls.expect(kBefore, kRules);
  int agreements = 0;
  for (const Route fastest :
       {Route::rules, Route::native, Route::other, Route::other, Route::rules}) {
    Times times{200, 200, 200};
    (fastest == Route::rules    ? times.rules
     : fastest == Route::native ? times.mpi
                                : times.other) = 100;
    calls.expect_turns(kTimedRules, kTimedOther, times);
    calls.expect_turns(fastest == Route::other ? kTimedOther : kTimedRules, kTimedMpi, times);
    calls.expect(Trial::kCallsBetween, {fastest, false});
    EXPECT_EQ(calls.oob.agreements, agreements += 2);
    EXPECT_TRUE(calls.is_open());
  }
}

TEST(Trials, OpenedAnewNothingIsKnown) {
  Calls calls;
  calls.expect(kBefore, kRules);
  calls.expect_turns(kTimedRules, kTimedMpi, {300, 1, 200});
  calls.expect(1, kMpi);
  calls.trials = Trials();
  calls.expect(1000, kRules);
  Trials::Classes classes = {}, none = {};
  classes[static_cast<int>(kAllreduce)] = kAll;
  calls.trials.open(classes, none, false);
  calls.expect(kBefore, kRules);
  calls.expect_turns(kTimedRules, kTimedMpi, {100, 1, 200});
  calls.expect(1000, kRules);
}

// The trials are compared with a plain account of what each call must be.
TEST(Trials, ClassesAndCollectivesAreApart) {
  std::mt19937 random(7);
  Calls calls;
  std::map<std::pair<int, int>, std::uint32_t> counts;
  for (int i = 0; i < 60000; ++i) {
    const auto collective = static_cast<Collective>(random() % kNumCollectives);
    const std::size_t bytes = random() % 40 ? random() % 64 : random();
    const int of_class = Trials::class_of(bytes);
    // In odd classes the rules are slower.
    const Turn turn = one_call(calls.trials, collective, bytes, calls.oob, [&](Route route) {
      return static_cast<std::uint64_t>(route == Route::native ? 200 : 100 + of_class % 2 * 200);
    });
    const std::uint32_t before = counts[{static_cast<int>(collective), of_class}]++;
    Turn expected;
    if (before >= Trials::calls_before(bytes) + Trial::kTurns) {
      expected = of_class % 2 ? kMpi : kRules;
    } else if (before >= Trials::calls_before(bytes)) {
      const bool rivals = Trial::is_rivals(static_cast<int>(before - Trials::calls_before(bytes)));
      expected = rivals ? kTimedMpi : kTimedRules;
    }
    ASSERT_EQ(turn, expected) << before << " calls of class " << of_class << " before";
  }
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
        const bool opened = all[0].trials.open_classes(info.collective) >> Trials::class_of(64) & 1;
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
        most = {std::max(own.kept, most.kept), std::max(own.rival, most.rival)};
        least = {std::min(own.kept, least.kept), std::min(own.rival, least.rival)};
      }
      std::vector<std::vector<Turn>> turns(times.size());
      all.each([&](Team& team, const Hello&) {
        const auto r = static_cast<std::size_t>(team.rank);
        open_trials(team);
        for (std::uint32_t i = 0; i <= kBefore + Trial::kTurns; ++i) {
          turns[r].push_back(one_call(team.trials, collective, 8, team.oob, [&](Route route) {
            return route == Route::native ? times[r].rival : times[r].kept;
          }));
        }
      });
      for (const auto& of_rank : turns) EXPECT_EQ(of_rank, turns[0]);
      const auto slower = [](const TurnTimes& of) { return of.kept > of.rival + of.rival / 8; };
      const bool down = slower(most) && (info_of(collective).has_root || slower(least));
      EXPECT_EQ(turns[0].back(), down ? kMpi : kRules);
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
