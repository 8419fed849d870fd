// SPDX-License-Identifier: BSD-3-Clause
// The tests run hierarchies of any shape with 1 to 64 symbolic ranks, every algorithm on every
// level, and adversarial interleavings, and compare with a serial result.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <sstream>

#include "algorithms/table.h"
#include "levels/call_plan.h"
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

int tag_of(const Stage& stage, int which) {
  const bool down = stage.kind == StagePlan::Kind::bcast;
  return (stage.level * 2 + (down ? 1 : 0)) * kWidth + which;
}

void choose(StagePlan& stage, bool shared, const Choices& choices,
            Collective what = Collective::allreduce) {
  Collective collective = Collective::allreduce;
  if (stage.kind == StagePlan::Kind::reduce) collective = Collective::reduce;
  if (stage.kind == StagePlan::Kind::bcast) collective = Collective::bcast;
  if (stage.kind == StagePlan::Kind::collect) collective = Collective::allgather;
  if (stage.kind == StagePlan::Kind::exchange && has_parts(what)) collective = what;
  stage.algorithm = choices.of(shared, collective);
  stage.radix = choices.radix;
  stage.width = shared ? 1 : kWidth;
}

void take_arguments(Operation& operation, const TestCall& call, const CallArguments& args) {
  operation.reduction = {};
  operation.bcast = {};
  if (has_parts(call.what)) return;
  if (call.what == Collective::bcast) {
    operation.bcast = args.bcast;
    return;
  }
  operation.reduction = args.reduction;
  if (call.what == Collective::reduce) return;
  operation.bcast = {args.reduction.output, call.bytes(), 0};
}

// Returns the bytes of the largest chunk.
std::size_t set_parts(LevelsWorld& world, int r, const TestCall& call, const CallArguments& args) {
  LevelsRank& rank = world[r];
  Operation& operation = rank.operation;
  operation.spread = nullptr;
  if (!has_parts(call.what)) return operation.chunks[0].bytes;
  const std::vector<int>& order = world.order()->ranks;
  const bool gathers = call.what == Collective::allgather;
  const Parts& parts = gathers ? args.allgather.parts : args.reduce_scatter.parts;
  rank.spread.cut(parts, world.order(), operation.chunks.count(), kCacheLine);
  operation.spread = &rank.spread;
  operation.gathers = gathers;
  operation.place = static_cast<int>(std::find(order.begin(), order.end(), r) - order.begin());
  if (operation.gathers) {
    operation.allgather = args.allgather;
  } else {
    operation.reduce_scatter = args.reduce_scatter;
  }
  return rank.spread.bytes(0);
}

void begin(LevelsWorld& world, int r, TestCall& call, const Choices& choices) {
  LevelsRank& rank = world[r];
  Operation& operation = rank.operation;
  const CallArguments args = call.arguments(r);
  take_arguments(operation, call, args);
  operation.chunks = Chunks(call.bytes(), choices.chunk, kCacheLine);
  const std::size_t largest = set_parts(world, r, call, args);
  rank.kept.resize(kKept * round_up(largest, kCacheLine));
  operation.kept = rank.kept.data();
  StagePlans plans;
  list_stages(rank.levels, world.depth(), call.what, call.root, plans);
  if (choices.passive && !has_parts(call.what)) make_passive(rank.levels, plans);
  rank.lowest.refused_one_of = choices.refused_one_of;
  for (StagePlan& plan : plans) {
    choose(plan, rank.levels[static_cast<std::size_t>(plan.level)].shared, choices, call.what);
  }
  take_stages(plans, rank.levels, operation);
  const bool in_place = choices.page > 0 && !has_parts(call.what);
  operation.direct.begin({in_place ? Algorithm::allreduce_direct : Algorithm::native,
                          Algorithm::native, choices.page, r != choices.unmapped},
                         operation);
  rank.strands.clear();
  rank.scratch.clear();
  operation.groups.assign(operation.num_stages * kWidth, {});
  operation.parts.resize(operation.groups.size());
  for (std::size_t i = 0; i < operation.num_stages; ++i) {
    const Stage& stage = operation.stages[i];
    for (int w = 0; w < stage.width; ++w) {
      if (!stage.group->shared) {
        operation.groups[i * kWidth + static_cast<std::size_t>(w)] = world.message_group(
            rank, stage.group->members, stage.group->rank, tag_of(stage, w), largest);
      }
      rank.strands.push_back(std::make_unique<Strand>());
      rank.strands.back()->preempt_at_every_wait(true);
      rank.strands.back()->start(run_stage(*rank.strands.back(), operation, i, w));
    }
  }
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
  long went = 0;
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
        world[r].program.push_back(
            [&world, &call, &choices, r] { begin(world, r, call, choices); });
      }
    }
    const std::string about = "seed " + std::to_string(seed) + "\n" + describe(hierarchy);
    ASSERT_TRUE(world.run()) << "no rank can go on; " << about;
    expect_right(calls, about);
    if (HasFailure()) return;
    went += world.went_direct();
  }
  EXPECT_GT(went, 0);
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

LevelGroup group_of(const std::vector<int>& members, int rank) {
  LevelGroup group;
  group.members = members;
  group.size = static_cast<int>(members.size());
  group.rank = rank;
  return group;
}

// Returns the group of the rank's place on all nodes of equal_nodes().
LevelGroup counterparts_of(int r, int nodes) {
  std::vector<int> ranks;
  for (int n = 0; n < nodes; ++n) ranks.push_back(r / nodes * nodes + n);
  return group_of(ranks, r % nodes);
}

void start(LevelsRank& rank, const std::function<Task(Strand&)>& text) {
  Strand& strand = *rank.strands.emplace_back(std::make_unique<Strand>());
  strand.preempt_at_every_wait(true);
  strand.start(text(strand));
}

void begin_multi(LevelsWorld& world, int r, int nodes, TestCall& call, const Choices& choices) {
  LevelsRank& rank = world[r];
  MultiLeader& work = rank.multi;
  rank.operation.reduction = call.arguments(r).reduction;
  work.node = &rank.levels[0];
  work.args = &rank.operation.reduction;
  list_multi_leader(*work.node, Algorithm::allreduce_multi_leader, rank.plans);
  choose(rank.plans[1], false, choices);
  work.stages = rank.plans.data();
  work.exchange = entry_of(rank.plans[1].algorithm).start_sending;
  work.chunks = part_in_chunks(call.bytes(), *work.node, choices.chunk);
  work.begin();
  rank.strands.clear();
  rank.scratch.clear();
  rank.across = counterparts_of(r, nodes);
  work.across = &rank.across;
  start(rank, [&](Strand& s) { return scatter(s, work); });
  start(rank, [&](Strand& s) { return gather(s, work); });
  for (int w = 0; w < kWidth; ++w) {
    work.groups[static_cast<std::size_t>(w)] = world.message_group(
        rank, rank.across.members, rank.across.rank, 1000 + w, work.chunks[0].bytes);
    start(rank, [&work, w](Strand& s) { return exchange(s, work, w); });
  }
}

// Lists the stages of all_ranks on the nodes of equal_nodes().
void list_all_ranks(LevelsRank& rank, int r, int nodes, const TestCall& call,
                    const Choices& choices) {
  list_multi_leader(rank.node, Algorithm::allreduce_all_ranks, rank.plans);
  const Collective stages[] = {Collective::reduce_scatter, call.what, Collective::allgather};
  for (std::size_t i = 0; i < 3; ++i) {
    rank.plans[i].algorithm = choices.of(false, stages[i]);
    rank.plans[i].radix = choices.radix;
  }
  if (!info_of(call.what).has_root) return;
  const bool down = call.what == Collective::bcast, on_node = r % nodes == call.root % nodes;
  rank.plans[1].root = call.root % nodes;
  rank.plans[down ? 0 : 2].root = call.root / nodes;
  if (!on_node) rank.plans.erase(down ? rank.plans.begin() : rank.plans.end() - 1);
}

// Starts the strands. `node` is null for flat.
void start_all_ranks(LevelsWorld& world, LevelsRank& rank, const LevelGroup* node,
                     const TestCall& call, const Choices& choices) {
  AllRanks& work = rank.all;
  work.args = &rank.operation.reduction;
  work.bcast = call.what == Collective::bcast ? &rank.operation.bcast : nullptr;
  work.to_root = call.what == Collective::reduce;
  work.node = node;
  work.across = &rank.across;
  work.take_stages(rank.plans);
  work.chunks = Chunks(call.bytes(), choices.chunk, kCacheLine);
  work.kept_bytes = round_up(work.chunks[0].bytes, kCacheLine);
  rank.kept.resize(work.width() * work.kept_bytes);
  work.kept = rank.kept.data();
  rank.strands.clear();
  rank.scratch.clear();
  for (std::size_t w = 0; w < work.width(); ++w) {
    std::size_t which = 2 * w;
    for (const LevelGroup* group : {node, work.across}) {
      if (group) {
        work.groups[which] =
            world.message_group(rank, group->members, group->rank, 1000 + static_cast<int>(which),
                                work.chunks[0].bytes);
      }
      ++which;
    }
    start(rank, [&work, w](Strand& s) { return all_ranks(s, work, w); });
  }
}

void begin_all_ranks(LevelsWorld& world, int r, int nodes, TestCall& call, const Choices& choices) {
  LevelsRank& rank = world[r];
  AllRanks& work = rank.all;
  take_arguments(rank.operation, call, call.arguments(r));
  rank.node = group_of(rank.levels[0].members, rank.levels[0].rank);
  rank.across = counterparts_of(r, nodes);
  list_all_ranks(rank, r, nodes, call, choices);
  work.parts = 1 + static_cast<int>(choices.chunk) % rank.node.size;
  work.hands =
      work.parts < rank.node.size && choices.radix % 2 == 0 && call.what == Collective::allreduce;
  start_all_ranks(world, rank, &rank.node, call, choices);
}

void begin_flat(LevelsWorld& world, int r, int, TestCall& call, const Choices& choices) {
  LevelsRank& rank = world[r];
  take_arguments(rank.operation, call, call.arguments(r));
  std::vector<int> all(static_cast<std::size_t>(world.size()));
  std::iota(all.begin(), all.end(), 0);
  rank.across = group_of(all, r);
  StagePlan stage;
  stage.algorithm = choices.of(false, call.what);
  stage.radix = choices.radix;
  stage.root = call.root;
  rank.plans.assign(1, stage);
  rank.all.hands = false;
  start_all_ranks(world, rank, nullptr, call, choices);
}

// Begins an operation on a rank, for a number of nodes, a call and choices.
using BeginFn = void(LevelsWorld&, int r, int nodes, TestCall&, const Choices&);

void run_on_all_shapes(BeginFn* begin, int least_of_a_node,
                       const std::vector<Collective>& collectives) {
  for (int nodes : {2, 3, 4, 5, 7, 8}) {
    for (int per_node : {1, 2, 3, 5, 8}) {
      if (per_node < least_of_a_node) continue;
      const int ranks = nodes * per_node;
      Random random(static_cast<unsigned>(ranks));
      LevelsWorld world(equal_nodes(nodes, per_node), ranks, kSlot, random());
      std::deque<TestCall> calls;
      std::deque<Choices> all_choices;
      for (int repeat = 0; repeat < 12; ++repeat) {
        const Choices& choices = all_choices.emplace_back(random_choices(ranks, random));
        const Collective what = collectives[below(random, collectives.size())];
        TestCall& call = calls.emplace_back(setting_of(what, ranks, 6000, random), random);
        for (int r = 0; r < ranks; ++r) {
          world[r].program.push_back([&, r] { begin(world, r, nodes, call, choices); });
        }
      }
      const std::string about = std::to_string(nodes) + " x " + std::to_string(per_node);
      ASSERT_TRUE(world.run()) << "no rank can go on; " << about;
      expect_right(calls, about);
    }
  }
}

TEST(EqualNodes, MultiLeader) { run_on_all_shapes(begin_multi, 1, {Collective::allreduce}); }
TEST(EqualNodes, AllRanks) {
  run_on_all_shapes(begin_all_ranks, 2,
                    {Collective::allreduce, Collective::reduce, Collective::bcast});
}
TEST(EqualNodes, Flat) {
  run_on_all_shapes(begin_flat, 1, {Collective::allreduce, Collective::reduce, Collective::bcast});
}

INSTANTIATE_TEST_SUITE_P(Sizes, Ranks,
                         ::testing::Values(2, 3, 4, 5, 6, 7, 8, 11, 13, 16, 17, 23, 32, 37, 48, 61,
                                           64));

}  // namespace
}  // namespace sumac::testing
