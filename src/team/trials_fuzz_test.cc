// SPDX-License-Identifier: BSD-3-Clause
// Ranks on nodes of different sizes make the same random calls, blocking and not, of random sizes
// and kinds of results, and their clocks show anything. Each rank decides for itself, as the back
// end does; all must take the same route at each call, and what they do by it must be right.
#include <gtest/gtest.h>

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "testing/test_call.h"
#include "testing/thread_team.h"
#include "testing/trial_calls.h"

namespace sumac::testing {
namespace {

// A call as all ranks make it. Where only the routes are asked for, nothing is done.
struct Step {
  Step(const CallSetting& setting, bool is_made, Random& random)
      : is_deferred(random() % 4 == 0),
        results(info_of(setting.what).reduces && random() % 3 == 0 ? Results::own : Results::any),
        what(setting.what),
        bytes(setting.what == Collective::barrier ? 0 : setting.count * sizeof(Word)) {
    if (is_made) call = std::make_unique<TestCall>(setting, random);
  }

  bool is_deferred;
  Results results;
  Collective what;
  std::size_t bytes;
  std::unique_ptr<TestCall> call;
};

// A rank did this in a call.
struct Took {
  Algorithm algorithm = Algorithm::native;
  TurnKind kind = TurnKind::none;
  bool is_at_rest = false;
  bool operator==(const Took&) const = default;
};

bool ends_together(const Step& step) { return !step.is_deferred && !info_of(step.what).has_root; }

// Returns the choice for a call that is awake, and the turn that it takes.
std::pair<Choice, Turn> choose_awake(Team& team, const Step& step) {
  Trials& trials = team.trials;
  const Collective collective = step.what;
  const std::size_t bytes = step.bytes;
  const Choice chosen = team.choose(collective, bytes);
  if (trials.wait_to_agree() && ends_together(step)) settle(trials, team.oob);
  if (!trials.is_open(collective, bytes, step.results)) return {chosen, Turn()};
  const auto find_others = [&] { return team.choose_others(collective, bytes, chosen); };
  if (step.is_deferred) {
    const Choice learnt = trials.learnt(collective, bytes, step.results, chosen, find_others);
    return {may_replace(chosen, learnt, bytes) ? learnt : chosen, Turn()};
  }
  const Turn turn = trials.next(collective, bytes, step.results, chosen, find_others);
  if (turn.route == Route::native) return {Choice(), turn};
  if (turn.route == Route::rules) return {chosen, turn};
  const Choice& other =
      trials.of(collective, bytes, step.results).candidates().other(turn.candidate);
  return {may_replace(chosen, other, bytes) ? other : chosen, turn};
}

// Makes a call on this rank.
Took make(Team& team, Step& step, std::mt19937& own) {
  const Collective collective = step.what;
  const std::size_t bytes = step.bytes;
  Choice choice = team.choose(collective, bytes);
  Took took;
  took.is_at_rest = choice.algorithm == Algorithm::native ||
                    !is_awake(team.trials, collective, bytes, !step.is_deferred);
  Turn turn;
  if (!took.is_at_rest) {
    std::tie(choice, turn) = choose_awake(team, step);
    team.note_around(collective, bytes, false);
  }
  took.algorithm = choice.algorithm;
  took.kind = turn.kind;
  if (step.call && choice.algorithm != Algorithm::native) {
    WaitPolicy policy;
    policy.spins = 1;
    team.work.run({step.call->arguments(team.rank, choice.radix), collective, choice}, {},
                  team.ranks(collective), policy);
  }
  if (turn.kind == TurnKind::timed && own() % 50) {
    team.trials.of(collective, bytes, step.results).note(own() >> own() % 32);
  }
  return took;
}

// Returns calls of a few classes, so that each is made often: of few sizes if they are not made.
std::vector<Step> random_steps(int ranks, std::size_t count, bool are_made, Random& random) {
  const Collective kWhats[] = {Collective::allreduce, Collective::bcast, Collective::reduce,
                               Collective::allgather, Collective::barrier};
  const Collective whats[] = {kWhats[random() % 5], kWhats[random() % 5]};
  const std::size_t sizes[] = {700, 1, 2, 600, 1100};  // words: some are neighbours
  std::vector<Step> steps;
  while (steps.size() < count) {
    CallSetting setting;
    setting.what = whats[random() % 2];
    setting.count = sizes[are_made ? random() % 5 : 0];
    setting.ranks = ranks;
    setting.root = below(random, ranks);
    steps.emplace_back(setting, are_made, random);
  }
  return steps;
}

// A file that other ranks can map as long as the object lives, so that calls may go direct.
struct MappedFile {
  MappedFile() : file{memfd_create("test", MFD_CLOEXEC), 0, 0} {
    struct stat status = {};
    if (ftruncate(file.descriptor, off_t{1} << 47) != 0 || fstat(file.descriptor, &status) != 0) {
      std::abort();
    }
    file.device = status.st_dev;
    file.inode = status.st_ino;
  }
  ~MappedFile() { close(file.descriptor); }
  FileIdentity file;
};

class Nodes : public ::testing::TestWithParam<std::vector<int>> {
 protected:
  // Makes random calls on all ranks. Returns what rank 0 did, which all must have done.
  std::vector<Took> make_random(unsigned seed, std::size_t count, bool are_made) {
    Random random(seed);
    Setting setting;
    for (std::size_t node = 0; node < GetParam().size(); ++node) {
      Place place;
      place.node = place.host = node + 1;
      const auto ranks = static_cast<std::size_t>(GetParam()[node]);
      setting.places.insert(setting.places.end(), ranks, place);
    }
    setting.seed = seed;
    if (seed % 2) setting.memory_file = mapped.file;
    if (seed % 3 == 2) setting.hierarchy = "ranks:2,node";
    ThreadTeam all(setting, [&](ThreadTeam& team) {
      for (int r = 0; r < team.setting().ranks(); ++r) {
        const Adapt adapt = seed % 4 ? Adapt::exact : Adapt::all;
        team.process(r).options.adapt = static_cast<std::uint64_t>(adapt);
      }
    });
    std::vector<Step> steps = random_steps(setting.ranks(), count, are_made, random);
    std::vector<std::vector<Took>> took(static_cast<std::size_t>(setting.ranks()));
    all.each([&](Team& team, const Hello&) {
      open_trials(team);
      std::mt19937 own(seed * 100 + static_cast<unsigned>(team.rank));
      for (Step& step : steps) {
        took[static_cast<std::size_t>(team.rank)].push_back(make(team, step, own));
      }
    });
    for (int r = 0; r < setting.ranks(); ++r) expect_right(r, steps, took);
    return took[0];
  }

 private:
  void expect_right(int rank, const std::vector<Step>& steps,
                    const std::vector<std::vector<Took>>& took) {
    const std::vector<Took>& its = took[static_cast<std::size_t>(rank)];
    for (std::size_t i = 0; i < steps.size(); ++i) {
      ASSERT_EQ(its[i], took[0][i]) << "call " << i << ", rank " << rank;
      const bool is_served = steps[i].call && its[i].algorithm != Algorithm::native;
      if (is_served) steps[i].call->expect_result(rank);
      ASSERT_FALSE(HasFailure()) << "call " << i;
    }
  }

  const MappedFile mapped;
};

TEST_P(Nodes, AllRanksTakeTheSameRoutes) {
  std::set<Algorithm> taken;
  long timed = 0;
  for (unsigned seed = 0; seed < 6; ++seed) {
    SCOPED_TRACE(seed);
    for (const Took& each : make_random(seed, 4000, true)) {
      taken.insert(each.algorithm);
      timed += each.kind == TurnKind::timed;
    }
    ASSERT_FALSE(HasFailure());
  }
  EXPECT_GE(taken.size(), 4u);
  EXPECT_GT(timed, 50);
}

// Classes at rest are compared again after the same calls.
TEST_P(Nodes, AllRanksCompareAgainAtTheSameCalls) {
  long again = 0;
  for (unsigned seed = 10; seed < 16; ++seed) {
    SCOPED_TRACE(seed);
    const std::vector<Took> took = make_random(seed, 80000, false);
    for (std::size_t i = Trial::kCallsBetween; i < took.size(); ++i) {
      again += took[i].kind == TurnKind::timed;
    }
    ASSERT_FALSE(HasFailure());
  }
  EXPECT_GT(again, 0);
}

INSTANTIATE_TEST_SUITE_P(, Nodes,
                         ::testing::Values(std::vector{4}, std::vector{3, 1}, std::vector{2, 1, 2},
                                           std::vector{4, 1, 1}),
                         [](const auto& each) {
                           std::string name;
                           for (const int ranks : each.param) name += "_" + std::to_string(ranks);
                           return "Of" + name;
                         });

}  // namespace
}  // namespace sumac::testing
