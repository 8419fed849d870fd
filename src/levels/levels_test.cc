// SPDX-License-Identifier: BSD-3-Clause
// The tests run hierarchies of any shape with 1 to 64 symbolic ranks, every algorithm on every
// level, and adversarial interleavings, and compare with a serial result.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <sstream>

#include "algorithms/table.h"
#include "levels/levels_operation.h"
#include "levels/stage_works.h"
#include "testing/levels_world.h"
#include "testing/test_call.h"

namespace sumac::testing {
namespace {

constexpr std::size_t kSlot = 1024;

// These are the same on all ranks: algorithms by collective, for groups that share memory and for
// others.
struct Choices {
  int radix;
  std::size_t chunk;
  std::array<Algorithm, kNumCollectives> shared, message;
  std::size_t page = 0;    // page size with which the lowest level is tried in place; 0: it is not
  int unmapped = -1;       // the rank whose buffers are then not mapped, if any
  bool passive = false;    // the lowest level's members only wait
  int refused_one_of = 0;  // one in so many copies of the lowest level is refused; 0: none

  Algorithm& of(bool is_shared, Collective collective) {
    return (is_shared ? shared : message)[static_cast<std::size_t>(collective)];
  }
  Algorithm of(bool is_shared, Collective collective) const {
    return (is_shared ? shared : message)[static_cast<std::size_t>(collective)];
  }
};

// Returns any row that serves chunks of such a size on a level.
Algorithm random_algorithm(Collective collective, bool shared, std::size_t chunk, Random& random) {
  std::vector<Algorithm> all;
  for (const Algorithm algorithm : kAllAlgorithms) {
    const AlgorithmEntry& entry = entry_of(algorithm);
    const bool fits = entry.needs != Needs::lines || chunk <= kLinesData;
    if (entry.collective == collective && (over_of(entry.needs) == Over::shm) == shared && fits &&
        serves_level(algorithm)) {
      all.push_back(algorithm);
    }
  }
  return all[random() % all.size()];
}

// A chunk of parts is rounded up by less than a cache line for each rank.
Choices random_choices(int ranks, Random& random) {
  Choices choices;
  choices.radix = 2 + static_cast<int>(random() % 7);
  choices.chunk = (1 + random() % 40) * kCacheLine;
  if (random() % 2) choices.page = 2 * kCacheLine;
  choices.passive = choices.page == 0 && random() % 2;
  const bool may_copy = choices.passive || choices.page > 0;
  if (may_copy && random() % 2) choices.refused_one_of = 1 + below(random, 4);
  if (random() % 4 == 0) choices.unmapped = below(random, ranks);
  for (const bool shared : {false, true}) {
    for (const Collective c : with_data()) {
      const std::size_t most = choices.chunk + static_cast<std::size_t>(ranks) * kCacheLine;
      choices.of(shared, c) = random_algorithm(c, shared, most, random);
    }
  }
  return choices;
}

CallSetting setting_of(Collective what, int ranks, std::size_t most, Random& random) {
  CallSetting setting;
  setting.what = what;
  setting.count = 1 + below(random, random() % 3 ? most : 20);
  setting.ranks = ranks;
  if (info_of(what).has_root) setting.root = below(random, ranks);
  setting.in_place = random() % 2;
  if (what == Collective::allreduce && random() % 2) {
    setting.kernel = tree_kernel;
    setting.fold = Fold::unknown_tree;
  }
  return setting;
}

// Returns the row of this name.
Algorithm over_levels(Collective collective, std::string_view name) {
  for (const Algorithm algorithm : kAllAlgorithms) {
    const AlgorithmInfo& info = info_of(algorithm);
    if (info.collective == collective && info.name == name) return algorithm;
  }
  ADD_FAILURE() << name;
  return Algorithm::native;
}

// Returns what the group of a stage does with each chunk.
Collective collective_of(const StagePlan& stage, Collective what) {
  switch (stage.kind) {
    case StagePlan::Kind::reduce:
      return Collective::reduce;
    case StagePlan::Kind::bcast:
      return Collective::bcast;
    case StagePlan::Kind::scatter:
      return Collective::reduce_scatter;
    case StagePlan::Kind::gather:
    case StagePlan::Kind::collect:
      return Collective::allgather;
    case StagePlan::Kind::exchange:
      break;
  }
  return stage.workers == Workers::across || has_parts(what) ? what : Collective::allreduce;
}

// The call takes the plan of this name, with algorithms drawn at random for its stages.
void begin(LevelsRank& rank, TestCall& call, const char* name, const Choices& choices) {
  ChosenCall chosen{call.arguments(rank.levels.own), call.what, {}};
  chosen.choice = {over_levels(call.what, name), static_cast<std::uint32_t>(choices.chunk)};
  plan_call(rank.levels, chosen.choice, chosen.shape(), rank.plan);
  for (StagePlan& stage : rank.plan.stages) {
    if (stage.algorithm == chosen.choice.algorithm) continue;  // the plan's own
    const bool shared = group_of(rank.levels, stage).shared;
    stage.algorithm = choices.of(shared, collective_of(stage, call.what));
    stage.radix = choices.radix;
    if (stage.workers != Workers::all) stage.width = shared ? 1 : kWidth;
  }
  rank.lowest.refused_one_of = choices.refused_one_of;
  DirectTry direct;
  direct.page = choices.page;
  direct.mapped = rank.levels.own != choices.unmapped;
  if (choices.page > 0 && rank.plan.stages[0].workers == Workers::level) {
    direct.algorithm = Algorithm::allreduce_direct;
  }
  if (!rank.operation) rank.operation = std::make_unique<LevelsOperation>(rank.levels);
  rank.operation->begin(rank.plan, chosen, direct);
}

void expect_right(const std::deque<TestCall>& calls, const std::string& about) {
  SCOPED_TRACE(about);
  for (const TestCall& call : calls) {
    for (int r = 0; r < call.ranks; ++r) call.expect_result(r);
  }
}

// Returns nested groups of random sizes and leaders, which share memory up to a random level.
Hierarchy random_hierarchy(int ranks, Random& random) {
  Hierarchy hierarchy;
  std::vector<int> taking_part(static_cast<std::size_t>(ranks));
  std::iota(taking_part.begin(), taking_part.end(), 0);
  const std::size_t depth = 1 + random() % 5;
  const std::size_t shared_levels = random() % (depth + 1);
  while (hierarchy.levels.size() < depth) {
    const bool top = hierarchy.levels.size() + 1 == depth;
    HierarchyLevel level;
    level.name = std::to_string(hierarchy.levels.size());
    std::vector<int> rest = taking_part;
    if (random() % 2) std::shuffle(rest.begin(), rest.end(), random);
    while (!rest.empty()) {
      const std::size_t n =
          top ? rest.size() : std::min<std::size_t>(rest.size(), 1 + random() % 6);
      Group group;
      group.members.assign(rest.end() - static_cast<std::ptrdiff_t>(n), rest.end());
      rest.resize(rest.size() - n);
      std::sort(group.members.begin(), group.members.end());
      group.leader = static_cast<int>(random() % n);
      group.one_node = hierarchy.levels.size() < shared_levels;
      level.groups.push_back(group);
    }
    taking_part.clear();
    for (const Group& group : level.groups) {
      taking_part.push_back(group.members[static_cast<std::size_t>(group.leader)]);
    }
    std::sort(taking_part.begin(), taking_part.end());
    hierarchy.levels.push_back(level);
    if (taking_part.size() == 1) break;
  }
  return hierarchy;
}

std::string describe(const Hierarchy& hierarchy) {
  std::ostringstream text;
  for (const HierarchyLevel& level : hierarchy.levels) {
    text << level.name << ":";
    for (const Group& group : level.groups) {
      text << (group.one_node ? " (" : " [");
      for (int m : group.members) text << m << ' ';
      text << "lead " << group.members[static_cast<std::size_t>(group.leader)] << ")";
    }
    text << "\n";
  }
  return text.str();
}

class Ranks : public ::testing::TestWithParam<int> {};

TEST_P(Ranks, AnyHierarchyAnyAlgorithmsAnyOrder) {
  const int ranks = GetParam();
  long went = 0, parts_went = 0;
  for (unsigned seed = 0; seed < 60; ++seed) {
    Random random(seed * 1000 + static_cast<unsigned>(ranks));
    const Hierarchy hierarchy = random_hierarchy(ranks, random);
    LevelsWorld world(hierarchy, ranks, kSlot, seed);
    for (int r = 0; r < ranks; ++r) world[r].lowest.unseen_of = seed % 4 == 3 ? 3 : 0;
    std::deque<TestCall> calls;
    std::deque<Choices> all_choices;
    for (int repeat = 0; repeat < 4; ++repeat) {
      const Choices& choices = all_choices.emplace_back(random_choices(ranks, random));
      TestCall& call =
          calls.emplace_back(setting_of(random_collective(random), ranks, 3000, random), random);
      for (int r = 0; r < ranks; ++r) {
        const bool passive = choices.passive && !has_parts(call.what);
        const char* const name = passive ? "passive" : "levels";
        world[r].program.push_back(
            [&world, &call, &choices, name, r] { begin(world[r], call, name, choices); });
      }
    }
    const std::string about = "seed " + std::to_string(seed) + "\n" + describe(hierarchy);
    ASSERT_TRUE(world.run()) << "no rank can go on; " << about;
    expect_right(calls, about);
    if (HasFailure()) return;
    (has_parts(calls.back().what) ? parts_went : went) += world.went_direct();
  }
  EXPECT_GT(went, 0);
  // With two ranks, or with many, too few of the last calls have parts and go direct.
  const bool often = ranks > 2 && ranks < 40;
  EXPECT_TRUE(parts_went > 0 || !often);
}

// Returns nodes of the same number of ranks, and the ranks of the same place on all of them.
Hierarchy equal_nodes(int nodes, int per_node) {
  Hierarchy hierarchy;
  hierarchy.levels.resize(2);
  Group leaders;
  for (int n = 0; n < nodes; ++n) {
    Group node;
    for (int i = 0; i < per_node; ++i) node.members.push_back(i * nodes + n);
    node.one_node = true;
    leaders.members.push_back(node.members[0]);
    hierarchy.levels[0].groups.push_back(node);
  }
  hierarchy.levels[1].groups.push_back(leaders);
  return hierarchy;
}

LevelGroup group_of(const RankList& members, int rank) {
  LevelGroup group;
  group.members = members;
  group.size = members.size();
  group.rank = rank;
  return group;
}

// Adds the groups that are not those of the levels of equal_nodes().
void add_groups(Levels& levels, int nodes, int per_node) {
  const int own = levels.own;
  std::vector<int> all, across;
  for (int n = 0; n < nodes; ++n) {
    for (int i = 0; i < per_node; ++i) all.push_back(i * nodes + n);
    across.push_back(own / nodes * nodes + n);
  }
  levels.all.group = group_of(all, own % nodes * per_node + own / nodes);
  levels.across.group = levels.counterparts.group = group_of(across, own % nodes);
  levels.node.group = group_of(levels.groups[0].members, levels.groups[0].rank);
}

void run_on_all_shapes(const char* name, int least_of_a_node,
                       const std::vector<Collective>& collectives) {
  for (int nodes : {2, 3, 4, 5, 7, 8}) {
    for (int per_node : {1, 2, 3, 5, 8}) {
      if (per_node < least_of_a_node) continue;
      const int ranks = nodes * per_node;
      Random random(static_cast<unsigned>(ranks));
      LevelsWorld world(equal_nodes(nodes, per_node), ranks, kSlot, random());
      for (int r = 0; r < ranks; ++r) add_groups(world[r].levels, nodes, per_node);
      std::deque<TestCall> calls;
      std::deque<Choices> all_choices;
      for (int repeat = 0; repeat < 12; ++repeat) {
        const Choices& choices = all_choices.emplace_back(random_choices(ranks, random));
        const Collective what = collectives[below(random, collectives.size())];
        TestCall& call = calls.emplace_back(setting_of(what, ranks, 6000, random), random);
        const int parts = 1 + static_cast<int>(choices.chunk) % per_node;
        for (int r = 0; r < ranks; ++r) {
          world[r].program.push_back([&, parts, r] {
            world[r].levels.parts = parts;
            begin(world[r], call, name, choices);
          });
        }
      }
      const std::string about = std::to_string(nodes) + " x " + std::to_string(per_node);
      ASSERT_TRUE(world.run()) << "no rank can go on; " << about;
      expect_right(calls, about);
    }
  }
}

TEST(EqualNodes, MultiLeader) { run_on_all_shapes("multi_leader", 1, {Collective::allreduce}); }
TEST(EqualNodes, AllRanks) {
  run_on_all_shapes("all_ranks", 2, {Collective::allreduce, Collective::reduce, Collective::bcast});
}
TEST(EqualNodes, AllRanksWithPeers) {
  run_on_all_shapes("all_ranks_peers", 2, {Collective::allreduce, Collective::reduce});
}
TEST(EqualNodes, Flat) {
  run_on_all_shapes("flat", 1, {Collective::allreduce, Collective::reduce, Collective::bcast});
}

INSTANTIATE_TEST_SUITE_P(Sizes, Ranks,
                         ::testing::Values(2, 3, 4, 5, 6, 7, 8, 11, 13, 16, 17, 23, 32, 37, 48, 61,
                                           64));

}  // namespace
}  // namespace sumac::testing
