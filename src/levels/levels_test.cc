// SPDX-License-Identifier: BSD-3-Clause
// Hierarchies of any shape, 1 to 64 symbolic ranks, every algorithm on every level, adversarial
// interleavings, against a serial result.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <sstream>

#include "algorithms/table.h"
#include "levels/call_plan.h"
#include "levels/test_levels.h"

namespace sumac::testing {
namespace {

using Word = std::uint32_t;
using Words = std::vector<Word>;
constexpr std::size_t kSlot = 1024;
constexpr Word kGuard = 0xdeadbeef;

// The same on all ranks: algorithms by collective, for groups that share memory and others.
struct Choices {
  int radix;
  std::size_t chunk;
  std::array<Algorithm, kNumCollectives> shared, message;

  Algorithm& of(bool is_shared, Collective collective) {
    return (is_shared ? shared : message)[static_cast<std::size_t>(collective)];
  }
  Algorithm of(bool is_shared, Collective collective) const {
    return (is_shared ? shared : message)[static_cast<std::size_t>(collective)];
  }
};

// Any row that serves chunks of such a size on a level. The MPI's own needs an MPI.
Algorithm random_algorithm(Collective collective, bool shared, std::size_t chunk,
                           std::mt19937& random) {
  std::vector<Algorithm> all;
  for (const Algorithm algorithm : kAllAlgorithms) {
    const AlgorithmEntry& entry = entry_of(algorithm);
    const bool fits = entry.needs != Needs::lines || chunk <= kLinesData;
    if (entry.collective == collective && (over_of(entry.needs) == Over::shm) == shared && fits &&
        entry.order != Order::of_mpi && serves_level(algorithm)) {
      all.push_back(algorithm);
    }
  }
  return all[random() % all.size()];
}

constexpr Collective kAll[] = {Collective::allreduce, Collective::reduce, Collective::bcast,
                               Collective::reduce_scatter, Collective::allgather};

// A chunk of parts is rounded up by less than a cache line a rank.
Choices random_choices(int ranks, std::mt19937& random) {
  Choices choices;
  choices.radix = 2 + static_cast<int>(random() % 7);
  choices.chunk = (1 + random() % 40) * kCacheLine;
  for (const bool shared : {false, true}) {
    for (const Collective c : kAll) {
      const std::size_t most = choices.chunk + static_cast<std::size_t>(ranks) * kCacheLine;
      choices.of(shared, c) = random_algorithm(c, shared, most, random);
    }
  }
  return choices;
}

struct Call {
  Collective what;
  int root;
  std::size_t count;
  bool in_place;
  ReduceFn kernel;
  std::vector<Part> listed;  // of a reduce-scatter and an all-gather
  std::vector<Words> input, output;

  Call(Collective w, int ranks, int r, std::size_t n, bool ip, ReduceFn k, std::mt19937& random)
      : what(w), root(r), count(n), in_place(ip && w != Collective::bcast), kernel(k) {
    for (int rank = 0, left = static_cast<int>(n); rank < ranks; ++rank) {
      const int most = random() % 3 ? left / 2 : 0;
      const int part = rank + 1 == ranks ? left : static_cast<int>(random() % (most + 1u));
      listed.push_back({(n - static_cast<std::size_t>(left)) * sizeof(Word),
                        static_cast<std::size_t>(part) * sizeof(Word)});
      left -= part;
    }
    for (int rank = 0; rank < ranks; ++rank) {
      Words words(n + 1, kGuard), result(n + 1, kGuard);
      for (std::size_t i = 0; i < n; ++i) words[i] = random();
      const bool filled = what == Collective::bcast ? rank == root : in_place && gets_result(rank);
      if (filled) result = words;
      input.push_back(words);
      output.push_back(result);
    }
  }
  Parts parts() const {
    return {count * sizeof(Word), static_cast<int>(listed.size()), 1, 0, listed.data()};
  }
  bool gets_result(int rank) const { return what != Collective::reduce || rank == root; }
  std::byte* out(int rank) {
    return reinterpret_cast<std::byte*>(output[static_cast<std::size_t>(rank)].data());
  }
  const std::byte* in(int rank) {
    if (in_place && gets_result(rank)) return out(rank);
    return reinterpret_cast<const std::byte*>(input[static_cast<std::size_t>(rank)].data());
  }
};

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

// Returns the bytes of the largest chunk.
std::size_t set_parts(LevelsWorld& world, int r, Call& call) {
  LevelsRank& rank = world[r];
  Operation& operation = rank.operation;
  operation.spread = nullptr;
  if (!has_parts(call.what)) return operation.chunks[0].bytes;
  const std::vector<int>& order = world.order()->ranks;
  rank.spread.cut(call.parts(), world.order(), operation.chunks.count(), kCacheLine);
  operation.spread = &rank.spread;
  operation.gathers = call.what == Collective::allgather;
  operation.place = static_cast<int>(std::find(order.begin(), order.end(), r) - order.begin());
  operation.own = r;
  operation.reduce_scatter = {operation.reduction, call.parts()};
  operation.allgather = {call.in(r) + call.parts()[r].offset, call.out(r), call.parts()};
  return rank.spread.bytes(0);
}

void begin(LevelsWorld& world, int r, Call& call, const Choices& choices) {
  LevelsRank& rank = world[r];
  Operation& operation = rank.operation;
  operation.reduction = {call.in(r),  call.gets_result(r) ? call.out(r) : nullptr,
                         call.count,  sizeof(Word),
                         call.kernel, 0};
  const bool down = call.what != Collective::reduce;
  operation.bcast = {down ? call.out(r) : nullptr, call.count * sizeof(Word), 0};
  operation.chunks = Chunks(call.count * sizeof(Word), choices.chunk, kCacheLine);
  const std::size_t largest = set_parts(world, r, call);
  rank.kept.resize(kKept * round_up(largest, kCacheLine));
  operation.kept = rank.kept.data();
  StagePlans plans;
  list_stages(rank.levels, world.depth(), call.what, call.root, plans);
  for (StagePlan& plan : plans) {
    choose(plan, rank.levels[static_cast<std::size_t>(plan.level)].shared, choices, call.what);
  }
  take_stages(plans, rank.levels, operation);
  rank.strands.clear();
  rank.scratch.clear();
  operation.groups.assign(operation.num_stages * kWidth, {});
  operation.parts.resize(operation.groups.size());
  for (std::size_t i = 0; i < operation.num_stages; ++i) {
    const Stage& stage = operation.stages[i];
    for (int w = 0; w < stage.width; ++w) {
      if (!stage.group->shared) {
        operation.groups[i * kWidth + static_cast<std::size_t>(w)] =
            world.message_group(rank, stage.group->members, stage.group->rank, tag_of(stage, w),
                                choices.radix, largest);
      }
      rank.strands.push_back(std::make_unique<Strand>());
      rank.strands.back()->preempt_at_every_wait(true);
      rank.strands.back()->start(run_stage(*rank.strands.back(), operation, i, w));
    }
  }
}

// An element of a rank's result.
Word expected(const Call& call, int rank, std::size_t i) {
  if (call.what == Collective::bcast) return call.input[static_cast<std::size_t>(call.root)][i];
  if (call.what == Collective::allgather) {
    std::size_t r = 0;
    while (i * sizeof(Word) >= call.listed[r].offset + call.listed[r].bytes) ++r;
    return call.input[r][i];
  }
  std::size_t from = i;
  if (call.what == Collective::reduce_scatter) {
    const Part own = call.listed[static_cast<std::size_t>(rank)];
    // What is behind the part is left alone, or undefined.
    if (i * sizeof(Word) >= own.bytes) {
      return call.in_place ? call.output[static_cast<std::size_t>(rank)][i] : kGuard;
    }
    from += own.offset / sizeof(Word);
  }
  Word sum = 0;
  for (const Words& words : call.input) sum += words[from];
  return sum;
}

void expect_right(const Call& call, int ranks, const std::string& about) {
  for (int r = 0; r < ranks; ++r) {
    const auto me = static_cast<std::size_t>(r);
    ASSERT_EQ(call.output[me][call.count], kGuard) << about << " rank " << r;
    if (!call.gets_result(r)) continue;
    if (call.kernel == tree_kernel && call.what == Collective::allreduce) {
      ASSERT_EQ(call.output[me], call.output[0]) << about << " rank " << r << ": other bits";
      continue;
    }
    for (std::size_t i = 0; i < call.count; ++i) {
      ASSERT_EQ(call.output[me][i], expected(call, r, i))
          << about << " " << name_of(call.what) << " rank " << r << " element " << i;
    }
  }
}

// Nested groups of random sizes and leaders; shared memory up to a random level.
Hierarchy random_hierarchy(int ranks, std::mt19937& random) {
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
  for (unsigned seed = 0; seed < (ranks < 20 ? 60u : 15u); ++seed) {
    std::mt19937 random(seed * 1000 + static_cast<unsigned>(ranks));
    const Hierarchy hierarchy = random_hierarchy(ranks, random);
    LevelsWorld world(hierarchy, ranks, kSlot, seed);
    std::deque<Call> calls;
    std::deque<Choices> all_choices;
    for (int repeat = 0; repeat < 4; ++repeat) {
      const Choices& choices = all_choices.emplace_back(random_choices(ranks, random));
      const std::size_t count = random() % 3 ? 1 + random() % 3000 : 1 + random() % 20;
      Call& call = calls.emplace_back(kAll[random() % std::size(kAll)], ranks,
                                      static_cast<int>(random() % ranks), count, random() % 2,
                                      random() % 2 ? tree_kernel : sum_kernel, random);
      if (call.what != Collective::allreduce) call.kernel = sum_kernel;
      for (int r = 0; r < ranks; ++r) {
        world[r].program.push_back(
            [&world, &call, &choices, r] { begin(world, r, call, choices); });
      }
    }
    const std::string about = "seed " + std::to_string(seed) + "\n" + describe(hierarchy);
    ASSERT_TRUE(world.run()) << "no rank can go on; " << about;
    for (const Call& call : calls) {
      expect_right(call, ranks, about);
      if (HasFatalFailure()) return;
    }
  }
}

// Nodes of the same number of ranks, and the ranks of the same place on all of them.
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

void begin_multi(LevelsWorld& world, int r, int nodes, Call& call, const Choices& choices,
                 std::vector<int>& counterparts) {
  LevelsRank& rank = world[r];
  MultiLeader& work = rank.multi;
  rank.operation.reduction = {call.in(r), call.out(r), call.count, sizeof(Word), call.kernel, 0};
  work.node = &rank.levels[0];
  work.args = &rank.operation.reduction;
  list_multi_leader(*work.node, Algorithm::allreduce_multi_leader, rank.plans);
  choose(rank.plans[1], false, choices);
  work.stages = rank.plans.data();
  work.exchange = entry_of(rank.plans[1].algorithm).start_sending;
  work.chunks = part_in_chunks(call.count * sizeof(Word), *work.node, choices.chunk);
  work.begin();
  rank.strands.clear();
  rank.scratch.clear();
  counterparts.clear();
  for (int n = 0; n < nodes; ++n) counterparts.push_back(work.node->rank * nodes + n);
  const auto start = [&](auto text) {
    rank.strands.push_back(std::make_unique<Strand>());
    rank.strands.back()->preempt_at_every_wait(true);
    rank.strands.back()->start(text(*rank.strands.back()));
  };
  start([&](Strand& s) { return scatter(s, work); });
  start([&](Strand& s) { return gather(s, work); });
  for (int w = 0; w < kWidth; ++w) {
    work.groups[static_cast<std::size_t>(w)] = world.message_group(
        rank, counterparts, r % nodes, 1000 + w, choices.radix, work.chunks[0].bytes);
    start([&](Strand& s) { return exchange(s, work, w); });
  }
}

TEST(MultiLeaderTest, AllShapesOfEqualNodes) {
  for (int nodes : {2, 3, 4, 5, 7, 8}) {
    for (int per_node : {1, 2, 3, 5, 8}) {
      const int ranks = nodes * per_node;
      std::mt19937 random(static_cast<unsigned>(ranks));
      LevelsWorld world(equal_nodes(nodes, per_node), ranks, kSlot, random());
      std::vector<std::vector<int>> counterparts(static_cast<std::size_t>(ranks));
      std::deque<Call> calls;
      std::deque<Choices> all_choices;
      for (int repeat = 0; repeat < 12; ++repeat) {
        const Choices& choices = all_choices.emplace_back(random_choices(ranks, random));
        const std::size_t count = random() % 3 ? 1 + random() % 6000 : 1 + random() % 20;
        Call& call = calls.emplace_back(Collective::allreduce, ranks, 0, count, random() % 2,
                                        random() % 2 ? tree_kernel : sum_kernel, random);
        for (int r = 0; r < ranks; ++r) {
          world[r].program.push_back([&, r] {
            begin_multi(world, r, nodes, call, choices, counterparts[static_cast<std::size_t>(r)]);
          });
        }
      }
      const std::string about = std::to_string(nodes) + " x " + std::to_string(per_node);
      ASSERT_TRUE(world.run()) << "no rank can go on; " << about;
      for (const Call& call : calls) expect_right(call, ranks, about);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, Ranks,
                         ::testing::Values(2, 3, 4, 5, 6, 7, 8, 11, 13, 16, 17, 23, 32, 37, 48, 61,
                                           64));

}  // namespace
}  // namespace sumac::testing
