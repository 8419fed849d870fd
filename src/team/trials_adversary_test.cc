// SPDX-License-Identifier: BSD-3-Clause
// The tests give the ranks of a team simulated clocks, which show calls that are late, disturbed or
// wrong. All ranks must take the same turns and end with the same candidate, which is not a slow
// one; and what a busy machine made wrong must be mended.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <random>
#include <vector>

#include "testing/thread_team.h"
#include "testing/trial_calls.h"

namespace sumac::testing {
namespace {

const std::vector<Choice> kOthers{{Algorithm::allreduce_split_slots},
                                  {Algorithm::allreduce_flat_slots}};
constexpr int kRulesFirst = 0, kMpi = 3;  // candidates

// Returns what a rank's clock shows (ns) for a call. All ranks ask the same of a call.
using Clock = std::function<std::uint64_t(int rank, int call, int candidate)>;

// Returns a number that is the same whoever asks.
std::mt19937 drawn(int seed, int call, int rank = -1) {
  std::seed_seq seeds{seed, call, rank};
  return std::mt19937(seeds);
}

// The calls went this way, the same on all ranks.
struct Course {
  std::vector<Turn> turns;
  std::map<int, int> on_trial;  // calls that a comparison asked for, by candidate

  int last() const { return turns.back().candidate; }
};

struct Ranks {
  explicit Ranks(int ranks)
      : all(setting_of(ranks, 1), [](ThreadTeam& team) {
          for (int r = 0; r < team.setting().ranks(); ++r) {
            team.process(r).options.adapt = static_cast<std::uint64_t>(Adapt::all);
          }
        }) {}

  Course make(const OfClass& of, int calls, const Clock& clock) {
    std::vector<Course> courses(static_cast<std::size_t>(all.setting().ranks()));
    all.each([&](Team& team, const Hello&) {
      Course& course = courses[static_cast<std::size_t>(team.rank)];
      open_trials(team);
      for (int i = 0; i < calls; ++i) {
        const auto ns = [&](int candidate) { return clock(team.rank, i, candidate); };
        course.turns.push_back(call_once(team.trials, of, team.oob, kOthers, ns));
        const Turn& turn = course.turns.back();
        course.on_trial[turn.candidate] += turn.kind != TurnKind::none;
        // Ranks agree on calls with a root in calls of another class.
        if (info_of(of.collective).has_root && team.trials.wait_to_agree()) {
          settle(team.trials, team.oob);
        }
      }
    });
    for (const Course& course : courses) EXPECT_EQ(course.turns, courses[0].turns);
    return courses[0];
  }

  ThreadTeam all;
};

// The costs of the candidates, and what disturbs them.
struct Costs {
  std::vector<double> us;
  double outliers = 0;  // share of calls that take up to 50 times as long
  double late_us = 0;   // ranks arrive up to so much later than the first
  int seed = 1;

  // All wait for all: a call ends on all ranks some time after the last has come.
  std::uint64_t ns(int ranks, int rank, int call, int candidate) const {
    std::mt19937 random = drawn(seed, call);
    std::uniform_real_distribution<double> part(0, 1);
    double last = 0, own = 0;
    for (int r = 0; r < ranks; ++r) {
      const double arrives = late_us * part(random);
      last = std::max(last, arrives);
      if (r == rank) own = arrives;
    }
    double cost = us[static_cast<std::size_t>(candidate)] * (1 + 0.05 * part(random));
    if (part(random) < outliers) cost *= 1 + 49 * part(random);
    return static_cast<std::uint64_t>(1000 * (cost + last - own));
  }
};

const OfClass kLarge{Collective::allreduce, 1 << 20, Results::any};
constexpr int kEnough = 1500;  // calls, for a whole comparison and those that pay for it

// A candidate that is more than twice as slow has two calls; the MPI's warm-up, which is not timed,
// is one more.
TEST(Adversary, CallsGivenToSlowCandidatesAreFew) {
  for (const int ranks : {2, 3, 5}) {
    Ranks team(ranks);
    for (int first = 0; first < 4; ++first) {
      Costs costs{{300, 300, 300, 300}};
      costs.us[static_cast<std::size_t>(first)] = 100;
      const Course course = team.make(kLarge, kEnough, [&](int rank, int call, int candidate) {
        return costs.ns(ranks, rank, call, candidate);
      });
      EXPECT_EQ(course.last(), first);
      // If the MPI is the best, it and the first of Sumac's that are alike have a row each.
      for (int i = 0; i < 4; ++i) {
        const int row = first == kMpi && (i == kMpi || i == kRulesFirst) ? Comparison::kRow : 0;
        EXPECT_EQ(course.on_trial.at(i), (i == kMpi ? 3 : 2) + row);
      }
    }
  }
}

TEST(Adversary, SlowerOnesAreFoundByTheirRounds) {
  Ranks team(3);
  const Costs costs{{165, 110, 100, 310}};
  const Course course = team.make(kLarge, kEnough, [&](int rank, int call, int candidate) {
    return costs.ns(3, rank, call, candidate);
  });
  EXPECT_EQ(course.on_trial.at(0), 4);
  EXPECT_EQ(course.on_trial.at(1), 16);
  EXPECT_EQ(course.on_trial.at(2), 16);
  EXPECT_EQ(course.on_trial.at(kMpi), 3);
  EXPECT_EQ(course.last(), 1);  // the likelier of two that are alike
}

// The MPI's first call opens connections and takes a thousand times as long.
TEST(Adversary, TheMpisFirstCallIsNotHeldAgainstIt) {
  Ranks team(2);
  const Costs costs{{200, 210, 220, 100}};
  const auto before = static_cast<int>(Comparison::calls_before(4, true));
  int opened = 0;
  const Course course = team.make(kLarge, kEnough, [&](int rank, int call, int candidate) {
    const bool is_first = candidate == kMpi && call <= before;
    if (is_first && rank == 0) ++opened;
    return costs.ns(2, rank, call, candidate) * (is_first ? 1000 : 1);
  });
  EXPECT_EQ(course.turns[static_cast<std::size_t>(before)].kind, TurnKind::warm_up);
  EXPECT_EQ(opened, 0);  // nobody looks at that time
  EXPECT_EQ(course.last(), kMpi);
}

// With outliers, and ranks that come late, a slow candidate is hardly ever kept.
TEST(Adversary, OutliersAndLateRanksSeldomMislead) {
  int wrong = 0, runs = 0, changed = 0;
  for (const int ranks : {2, 5}) {
    Ranks team(ranks);
    for (int seed = 0; seed < 60; ++seed, ++runs) {
      Costs costs{{100, 150, 110, 300}};
      costs.outliers = 0.1;
      costs.late_us = seed % 3 * 40;
      costs.seed = seed;
      std::shuffle(costs.us.begin(), costs.us.end(), std::minstd_rand(static_cast<unsigned>(seed)));
      const Course course = team.make(kLarge, kEnough, [&](int rank, int call, int candidate) {
        return costs.ns(ranks, rank, call, candidate);
      });
      const double kept = costs.us[static_cast<std::size_t>(course.last())];
      wrong += kept > 150 || (kept > 112 && kept > costs.us[0]);
      changed += course.last() != kRulesFirst;
    }
  }
  EXPECT_LE(wrong, runs / 20);
  EXPECT_GE(changed, runs / 4);
}

// A rank that always comes late makes all candidates look slow, and none of them slower.
TEST(Adversary, ARankThatAlwaysComesLateChangesNothing) {
  Ranks team(3);
  const Costs costs{{100, 100, 100, 100}};
  const Course course = team.make(kLarge, kEnough, [&](int rank, int call, int candidate) {
    const bool late_to_it = candidate != 2 && call % 2;
    return costs.ns(3, rank, call, candidate) + (rank < 2 && late_to_it ? 5'000'000u : 0u);
  });
  EXPECT_EQ(course.last(), kRulesFirst);
}

// Clocks may show anything.
TEST(Adversary, WhateverClocksSayAllDecideTheSame) {
  for (const Collective collective : {Collective::allreduce, Collective::bcast}) {
    for (const int ranks : {2, 3, 5}) {
      Ranks team(ranks);
      for (int seed = 0; seed < 20; ++seed) {
        const OfClass of{collective, seed % 2 ? std::size_t{8} : std::size_t{1} << 20};
        const Course course = team.make(of, 400, [&](int rank, int call, int) {
          std::mt19937 random = drawn(seed, call, rank);
          return std::uint64_t{random()} >> random() % 32;
        });
        EXPECT_LE(course.on_trial.at(kRulesFirst), 16 + Comparison::kRow);
        EXPECT_EQ(course.turns.back().kind, TurnKind::none);
      }
    }
  }
}

// With a root the slowest rank decides alone.
TEST(Adversary, WithARootTheSlowestDecides) {
  Ranks team(3);
  const auto clock = [](int rank, int, int candidate) {
    const std::uint64_t slowest = candidate == 1 ? 100 : 200;
    return rank == 2 ? slowest : 50;
  };
  EXPECT_EQ(team.make({Collective::reduce, 1 << 20}, kEnough, clock).last(), 1);
  EXPECT_EQ(team.make(kLarge, kEnough, clock).last(), kRulesFirst);
}

// Ranks share processors with an MPI that waits without yielding: a call of it that follows one of
// Sumac's is quick, one that follows another of its own needs a time slice, and Sumac's next call
// is slow after it. Seen from mixed turns the MPI is the fastest.
TEST(Adversary, AnMpiThatIsSlowOnlyInARowIsNotKept) {
  for (const Collective collective : {Collective::allgather, Collective::bcast}) {
    for (const int ranks : {2, 3, 5}) {
      Ranks team(ranks);
      std::vector<int> last_of_mpi(static_cast<std::size_t>(ranks), -2);
      const auto clock = [&](int rank, int call, int candidate) {
        int& last = last_of_mpi[static_cast<std::size_t>(rank)];
        const bool follows_mpi = last == call - 1;
        if (candidate == kMpi) last = call;
        if (candidate != kMpi) return follows_mpi ? 300'000u : 30'000u;
        return follows_mpi ? 4'000'000u : 5'000u;
      };
      const Course course = team.make({collective, 64}, 2000, clock);
      EXPECT_EQ(course.on_trial.at(kMpi), 3 + Comparison::kRow);
      EXPECT_EQ(course.last(), kRulesFirst);
      const auto served_by_mpi = std::count_if(
          course.turns.begin(), course.turns.end(),
          [](const Turn& turn) { return turn.candidate == kMpi && turn.kind == TurnKind::none; });
      EXPECT_EQ(served_by_mpi, 0);
    }
  }
}

// While the machine is busy with something else, in the turns of what is the best, a wrong
// candidate is kept; the next comparison finds the right one.
TEST(Adversary, WhatABusyMachineMadeWrongIsMended) {
  constexpr int kBetween = static_cast<int>(Trial::kCallsBetween);
  for (int best = 0; best < 4; ++best) {
    Ranks team(2);
    Costs costs{{150, 150, 150, 150}};
    costs.us[static_cast<std::size_t>(best)] = 100;
    const auto clock = [&](int rank, int call, int candidate) {
      const bool busy = call < kEnough && candidate == best;
      return costs.ns(2, rank, call, candidate) * (busy ? 4 : 1);
    };
    const Course course = team.make(kLarge, kBetween + 2 * kEnough, clock);
    EXPECT_NE(course.turns[kEnough].candidate, best);
    EXPECT_EQ(course.last(), best);
    EXPECT_EQ(course.turns.back().kind, TurnKind::none);
  }
}

}  // namespace
}  // namespace sumac::testing
