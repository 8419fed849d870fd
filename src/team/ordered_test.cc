// SPDX-License-Identifier: BSD-3-Clause
// SUMAC_REPRODUCIBLE: reductions of teams of 2 to 12 ranks, on every placement of a few and many
// placements of more, with any hierarchy, rules and forced algorithms, give the bits of a serial
// fold in the order of ranks. The kernel shows order and tree of the folding. Without the option
// placements do differ, and many ranks of a node are folded in runs.
#include <gtest/gtest.h>

#include <cstdio>
#include <sstream>

#include "team/team.h"
#include "testing/test_call.h"
#include "testing/thread_team.h"

namespace sumac::testing {
namespace {

constexpr Collective kReductions[] = {Collective::allreduce, Collective::reduce,
                                      Collective::reduce_scatter};

void report_late(void* about, double seconds) {
  if (seconds < 60) return;
  std::fprintf(stderr, "ranks wait for one another: %s\n", static_cast<const char*>(about));
  std::abort();
}

CallSetting setting_of(Collective what, int ranks, std::size_t count, Random& random) {
  CallSetting setting;
  setting.what = what;
  setting.count = count;
  setting.ranks = ranks;
  if (info_of(what).has_root) setting.root = below(random, ranks);
  setting.in_place = random() % 2;
  setting.lists_parts = random() % 2;
  setting.kernel = tree_kernel;
  return setting;
}

// Returns a size around those at which pieces, lines and algorithms change.
std::size_t random_count(Random& random) {
  static constexpr std::size_t kSizes[] = {1,    2,    15,   16,   17,   33,   255,
                                           256,  257,  511,  512,  513,  518,  519,
                                           2047, 2048, 2049, 4096, 4097, 9000, 16384};
  return kSizes[random() % std::size(kSizes)];
}

// Each rank calls in turn and waits, or begins all calls and then waits for them.
void run_calls(Team& team, std::deque<TestCall>& calls, const WaitPolicy& policy, bool overlap) {
  std::deque<Work> begun;
  for (TestCall& call : calls) {
    Work& work = begun.emplace_back();
    const Choice choice = team.choose(call.what, call.bytes());
    const ChosenCall made{call.arguments(team.rank, choice.radix), call.what, choice};
    if (overlap) {
      work.set(made, {}, team.ranks(call.what), true);
      work.begin();
    } else {
      work.run(made, {}, team.ranks(call.what), policy);
    }
  }
  Waiting waiting(policy);
  for (Work& work : begun) {
    while (work.going()) {
      if (!work.progress()) waiting.step();
      for (Work& other : begun) {
        if (other.going()) other.progress();
      }
    }
  }
}

void run_all(ThreadTeam& all, std::deque<TestCall>& calls, const std::string& about, bool overlap) {
  all.each([&](Team& team, const Hello&) {
    WaitPolicy policy;
    policy.spins = 1;
    policy.late = report_late;
    policy.context = const_cast<char*>(about.c_str());
    run_calls(team, calls, policy, overlap);
  });
}

std::vector<Place> places_of(const std::vector<int>& nodes, Random& random) {
  std::vector<Place> places;
  std::map<int, int> met;
  for (const int node : nodes) {
    Place place;
    place.node = place.host = 100 + static_cast<std::uint64_t>(node);
    const int core = met[node]++;
    place.at = {core, core / 2, core / 2, core / 2, core / 4};
    place.slow = random() % 8 == 0;
    place.attached = place.slow ? place.host : 0;
    places.push_back(place);
  }
  return places;
}

// Sets anything that a user may ask for.
void ask_for_anything(Setting& setting, Random& random) {
  static constexpr const char* kTexts[] = {"auto",         "flat",    "ranks:2,node",
                                           "numa,node",    "node",    "core,l2,numa,package,node",
                                           "ranks:3,node", "list:0-1"};
  static constexpr SlowDesign kDesigns[] = {SlowDesign::basic, SlowDesign::direct,
                                            SlowDesign::peer};
  setting.hierarchy = kTexts[random() % std::size(kTexts)];
  setting.design = kDesigns[random() % std::size(kDesigns)];
  setting.oversubscribed = random() % 2;
  setting.slot_bytes = 1024u << random() % 3;
  for (const Algorithm algorithm : kAllAlgorithms) {
    const AlgorithmInfo& info = info_of(algorithm);
    if (random() % 6 == 0) {
      setting.forced += std::string(name_of(info.collective)) + ":" + info.name + ";";
    }
    if (random() % 6 == 0 && over_of(info.needs) != Over::levels) {
      add_rule(setting.rules, over_of(info.needs), algorithm, 0, 2 + below(random, 5));
    }
  }
  add_level_rules(setting.rules, 80, random);
}

std::string describe(const Setting& setting, unsigned seed) {
  std::ostringstream about;
  about << "seed " << seed << ", " << setting.hierarchy << ", forced '" << setting.forced
        << "', nodes";
  for (const Place& place : setting.places) about << ' ' << place.node - 100;
  return about.str();
}

void expect_serial_fold(const std::vector<int>& nodes, unsigned seed) {
  Random random(seed);
  Setting setting;
  setting.seed = seed;
  setting.reproducible = true;
  setting.places = places_of(nodes, random);
  if (seed % 3 != 0) ask_for_anything(setting, random);
  const std::string about = describe(setting, seed);
  SCOPED_TRACE(about);
  ThreadTeam all(setting);
  const auto ranks = static_cast<int>(nodes.size());
  for (int r = 0; r < ranks; ++r) ASSERT_EQ(all[r].state, Team::State::together);
  std::deque<TestCall> calls;
  for (const Collective what : kReductions) {
    for (int i = 0; i < 2; ++i) {
      calls.emplace_back(setting_of(what, ranks, random_count(random), random), random);
    }
  }
  run_all(all, calls, about, seed % 2 == 0);
  for (const TestCall& call : calls) {
    for (int r = 0; r < ranks; ++r) call.expect_result(r);
  }
}

// Visits all ways of putting ranks on nodes: the first rank of each node comes before that of the
// next.
void each_placement(std::vector<int>& nodes, std::size_t rank, int used,
                    const std::function<void(const std::vector<int>&)>& visit) {
  if (rank == nodes.size()) return visit(nodes);
  for (int node = 0; node <= used; ++node) {
    nodes[rank] = node;
    each_placement(nodes, rank + 1, std::max(used, node + 1), visit);
  }
}

TEST(Ordered, EveryPlacementOfAFewRanks) {
  for (std::size_t ranks = 2; ranks <= 5; ++ranks) {
    std::vector<int> nodes(ranks);
    unsigned seed = static_cast<unsigned>(ranks) * 1000;
    each_placement(nodes, 0, 0, [&](const std::vector<int>& placed) {
      if (!::testing::Test::HasFailure()) expect_serial_fold(placed, seed++);
    });
  }
}

TEST(Ordered, AnyPlacementOfMoreRanks) {
  for (int ranks = 6; ranks <= 12; ++ranks) {
    for (unsigned i = 0; i < 8 && !HasFailure(); ++i) {
      const unsigned seed = static_cast<unsigned>(ranks) * 1000 + i;
      Random random(seed);
      std::vector<int> nodes;
      const int most = 1 + below(random, ranks);
      for (int r = 0; r < ranks; ++r) nodes.push_back(below(random, most));
      expect_serial_fold(nodes, seed);
    }
  }
}

// Without the option more than 16 ranks of a node would be folded in runs.
TEST(Ordered, ManyRanksOfANode) {
  for (const std::size_t ranks : {17u, 26u}) {
    expect_serial_fold(std::vector<int>(ranks, 0), static_cast<unsigned>(ranks) * 3);
    std::vector<int> two_nodes(ranks, 0);
    two_nodes.back() = 1;
    expect_serial_fold(two_nodes, static_cast<unsigned>(ranks) * 3);
  }
}

// Small and larger calls, in turn and under way at the same time, give the bits of one order.
TEST(Ordered, ManyRanksOfANodeInRunsWithoutTheOption) {
  for (unsigned seed = 0; seed < 6 && !HasFailure(); ++seed) {
    Random random(seed);
    const int ranks = 17 + below(random, 12);
    Setting setting;
    setting.places = places_of(std::vector<int>(static_cast<std::size_t>(ranks), 0), random);
    for (Place& place : setting.places) place.slow = false;
    setting.hierarchy = "flat";  // the places have several NUMA domains
    if (seed % 2 == 0) setting.forced = "allreduce:two_steps;barrier:two_steps";
    ThreadTeam all(setting);
    std::deque<TestCall> calls;
    for (int i = 0; i < 30; ++i) {
      const Collective what = i % 3 == 0 ? Collective::barrier : kReductions[below(random, 3)];
      CallSetting call = setting_of(what, ranks, random_count(random), random);
      if (random() % 2) call.count = 1 + below(random, 500u);
      call.fold = Fold::of_group;
      calls.emplace_back(call, random);
    }
    run_all(all, calls, "many ranks", seed % 4 < 2);
    for (const TestCall& call : calls) {
      for (int r = 0; r < ranks; ++r) call.expect_result(r);
    }
  }
}

// Returns the results of the same calls on a placement.
std::vector<Words> results_on(const std::vector<int>& nodes, Collective what, bool reproducible) {
  Random of_places(1), random(7);
  Setting setting;
  setting.reproducible = reproducible;
  setting.places = places_of(nodes, of_places);
  for (Place& place : setting.places) place.slow = false;
  ThreadTeam all(setting);
  std::deque<TestCall> calls;
  for (const std::size_t count : {5u, 700u, 20000u}) {
    calls.emplace_back(setting_of(what, setting.ranks(), count, random), random);
  }
  run_all(all, calls, "placements", false);
  std::vector<Words> results;
  for (const TestCall& call : calls) {
    const std::size_t who = what == Collective::reduce ? static_cast<std::size_t>(call.root) : 0;
    results.push_back(call.output[who]);
  }
  return results;
}

TEST(Ordered, PlacementsDifferWithoutTheOptionOnly) {
  const std::vector<int> one_node = {0, 0, 0, 0, 0}, blocks = {0, 0, 0, 1, 1},
                         turns = {0, 1, 0, 1, 0};
  for (const Collective what : kReductions) {
    for (const bool reproducible : {false, true}) {
      const auto here = results_on(one_node, what, reproducible);
      EXPECT_EQ(results_on(blocks, what, reproducible) == here, reproducible) << name_of(what);
      EXPECT_EQ(results_on(turns, what, reproducible) == here, reproducible) << name_of(what);
    }
  }
}

}  // namespace
}  // namespace sumac::testing
