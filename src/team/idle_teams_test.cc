// SPDX-License-Identifier: BSD-3-Clause
// Teams of the same ranks come and go, several at a time, with ranks as threads. Ranks keep them in
// different orders and lose some, as they may; then all ranks must take up the same team or set up
// a new one, and every result must be right.
#include "team/idle_teams.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>

#include "team/set_up.h"
#include "testing/test_call.h"
#include "testing/thread_team.h"
#include "testing/trial_calls.h"

namespace sumac::testing {
namespace {

// One rank's teams. The memory of a team is not used again, so nothing may point into it.
struct RankOfTeams {
  explicit RankOfTeams(unsigned seed) : random(seed) {}

  IdleTeams idle;
  std::deque<Team> teams;
  std::vector<Team*> open;
  Random random;
  int taken_up = 0;
};

bool is_same_on_all(Team& team, std::uint64_t number) {
  std::uint64_t words[2] = {number, ~number};
  team.oob.all_and(words, 2);
  return number != 0 && words[0] == number && words[1] == ~number;
}

// Each team learns for one class of calls which candidate is the fastest.
constexpr OfClass kLearnt{Collective::allreduce, 4096};

const Trial& learnt(Team& team) {
  return team.trials.of(kLearnt.collective, kLearnt.bytes, kLearnt.results);
}

// Lets the team learn, the same on all ranks, that this candidate is the fastest.
void learn(Team& team, int fastest) {
  const auto time_of = [&](int candidate) { return candidate == fastest ? 10 : 100; };
  for (int i = 0; i < 400; ++i) call_once(team.trials, kLearnt, team.oob, {}, time_of);
}

void open_team(RankOfTeams& own, Team& first, Hello hello, unsigned one_in_lost) {
  Team& team = own.teams.emplace_back(first.context, first.oob);
  team.rank = first.rank;
  team.size = first.size;
  team.identity = 77;
  std::unique_ptr<IdleTeam> idle = own.idle.find(team, 0);
  // A rank may look for it and not use it, whether the others do so or not.
  if (idle && own.random() % 3 == 0) {
    const std::uint64_t number = idle->number();
    own.idle.put_back(team.context, std::move(idle));
    idle = own.idle.find(team, 0);
    EXPECT_TRUE(idle && idle->number() == number);
  }
  if (idle && one_in_lost && own.random() % one_in_lost == 0) {
    own.idle.give_up(team.context, std::move(idle));
  }
  if (is_same_on_all(team, idle ? idle->number() : 0)) {
    IdleTeams::take_up(team, std::move(idle));
    ++own.taken_up;
    // Ranks that have learnt something together have not mixed it up with what other teams know.
    EXPECT_TRUE(is_same_on_all(team, 1 + static_cast<std::uint64_t>(learnt(team).kept())));
  } else {
    if (idle) own.idle.give_up(team.context, std::move(idle));
    hello.serial += own.teams.size() << 32;  // each team has a number of its own
    set_up_team(team, hello, false);
    open_trials(team);
    EXPECT_EQ(learnt(team).kept(), 0);
  }
  own.open.push_back(&team);
}

void keep_all(RankOfTeams& own) {
  std::shuffle(own.open.begin(), own.open.end(), own.random);
  for (Team* team : own.open) {
    own.idle.keep(*team);
    team->reset();
  }
  own.open.clear();
}

void run_in_all(RankOfTeams& own, std::deque<std::deque<TestCall>>& calls) {
  WaitPolicy policy;
  policy.spins = 1;
  for (std::size_t t = 0; t < calls.size(); ++t) {
    Team& team = *own.open[t];
    for (TestCall& call : calls[t]) {
      const Choice choice = team.choose(call.what, call.bytes());
      team.work.run({call.arguments(team.rank, choice.radix), call.what, choice}, {},
                    team.ranks(call.what), policy);
    }
  }
}

std::deque<TestCall> random_calls(int ranks, Random& random) {
  std::deque<TestCall> calls;
  for (int left = below(random, 4); left >= 0; --left) {
    CallSetting setting;
    setting.what = random_collective(random);
    setting.count = 1 + below(random, random() % 2 ? 60 : 9000);
    setting.ranks = ranks;
    setting.root = below(random, ranks);
    calls.emplace_back(setting, random);
  }
  return calls;
}

// Returns how often rank 0 has taken a team up.
int come_and_go(ThreadTeam& all, unsigned seed, unsigned one_in_lost) {
  constexpr int kRounds = 12;
  const int ranks = all.setting().ranks();
  std::deque<RankOfTeams> of_ranks;
  for (int r = 0; r < ranks; ++r) of_ranks.emplace_back(seed * 64 + static_cast<unsigned>(r));
  Random random(seed);
  for (int round = 0; round < kRounds; ++round) {
    std::deque<std::deque<TestCall>> calls;
    for (int left = below(random, 3); left >= 0; --left) {
      calls.push_back(random_calls(ranks, random));
    }
    all.each([&](Team& first, const Hello& hello) {
      RankOfTeams& own = of_ranks[static_cast<std::size_t>(first.rank)];
      for (std::size_t t = 0; t < calls.size(); ++t) open_team(own, first, hello, one_in_lost);
      run_in_all(own, calls);
      for (std::size_t t = 0; t < calls.size(); ++t) {
        learn(*own.open[t], static_cast<int>(t % 2));
      }
      // Messages end on all ranks before any of them ends for good.
      first.oob.all_and(nullptr, 0);
      keep_all(own);
    });
    for (const auto& of_team : calls) {
      for (const TestCall& call : of_team) {
        for (int r = 0; r < ranks; ++r) call.expect_result(r);
      }
    }
  }
  for (const RankOfTeams& own : of_ranks) EXPECT_EQ(own.taken_up, of_ranks[0].taken_up);
  return of_ranks[0].taken_up;
}

void sweep(unsigned one_in_lost, int least_taken_up) {
  for (const int ranks : {2, 3, 5, 7}) {
    for (const int nodes : {1, 2, ranks}) {
      for (unsigned seed = 1; seed <= 3; ++seed) {
        SCOPED_TRACE(std::to_string(ranks) + " ranks on " + std::to_string(nodes) +
                     " nodes, seed " + std::to_string(seed));
        Setting setting = setting_of(ranks, nodes);
        Random random(seed);
        add_level_rules(setting.rules, 16, random);
        ThreadTeam all(setting);
        EXPECT_GE(come_and_go(all, seed, one_in_lost), least_taken_up);
      }
    }
  }
}

TEST(IdleTeams, TheNextTeamOfTheSameRanksTakesThemUp) { sweep(0, 9); }

TEST(IdleTeams, RanksThatLoseThemAgreeOnNewOnes) { sweep(5, 0); }

TEST(IdleTeams, WhatChangedSinceIsNotTakenUp) {
  ThreadTeam all(setting_of(2, 1));
  all.each([](Team& team, const Hello&) {
    IdleTeams idle;
    team.identity = 77;
    team.state_of_process = 1;
    idle.keep(team);
    EXPECT_FALSE(can_be_idle(team));
    EXPECT_EQ(idle.find(team, 2), nullptr);
    EXPECT_EQ(idle.find(team, 1), nullptr);  // it has been given up
  });
}

TEST(IdleTeams, OthersOrAnotherHierarchyAreAnotherTeam) {
  ThreadTeam all(setting_of(2, 1));
  all.each([](Team& team, const Hello&) {
    IdleTeams idle;
    team.identity = 77;
    idle.keep(team);
    team.identity = 78;
    EXPECT_EQ(idle.find(team, 0), nullptr);
    team.identity = 77;
    team.hierarchy = "ranks:2";
    EXPECT_EQ(idle.find(team, 0), nullptr);
    team.hierarchy.clear();
    team.oob.all_and(nullptr, 0);  // both have released the block
    std::unique_ptr<IdleTeam> found = idle.find(team, 0);
    ASSERT_NE(found, nullptr);
    IdleTeams::take_up(team, std::move(found));
    EXPECT_EQ(team.state, Team::State::together);
    EXPECT_EQ(team.wait_policy.context, &team);
  });
}

}  // namespace
}  // namespace sumac::testing
