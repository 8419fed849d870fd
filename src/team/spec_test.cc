// SPDX-License-Identifier: BSD-3-Clause
#include "team/spec.h"

#include <gtest/gtest.h>

#include "rules/rules.h"
#include "team/hello.h"

namespace sumac {
namespace {

Hierarchy hierarchy_of(const TeamSpec& team, const char* text) {
  HierarchySpec spec;
  Hierarchy hierarchy;
  std::string problem;
  EXPECT_TRUE(parse_hierarchy(text, spec, problem)) << problem;
  EXPECT_TRUE(build_hierarchy(spec, team.placement.places(), SlowDesign::basic, hierarchy, problem))
      << problem;
  return hierarchy;
}

// Returns nodes of so many ranks.
std::vector<PlacedRank> on_nodes(const std::vector<int>& nodes) {
  std::vector<PlacedRank> ranks;
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    for (int r = 0; r < nodes[n]; ++r) {
      PlacedRank rank;
      rank.place.node = rank.place.host = rank.machine = n + 1;
      rank.spare = true;
      ranks.push_back(rank);
    }
  }
  return ranks;
}

TeamSpec spec_of(const std::vector<PlacedRank>& ranks) {
  TeamSpec spec;
  spec.placement = Placement(ranks);
  return spec;
}
TeamSpec spec_of_nodes(const std::vector<int>& nodes) { return spec_of(on_nodes(nodes)); }

TEST(Spec, NodesAreEqualWhereEachHasAsManyRanks) {
  struct {
    std::vector<int> nodes;
    const char* text;
    bool equal;
  } const kCases[] = {
      {{4, 4}, "node", true},   {{4, 4, 4}, "auto", true}, {{4, 3}, "node", false},
      {{8}, "flat", false},     {{4, 4}, "flat", false},   {{4, 4}, "ranks:2,node", false},
      {{64, 64}, "node", true}, {{65, 65}, "node", false}, {{1, 1}, "node", false},
  };
  for (const auto& each : kCases) {
    const TeamSpec spec = spec_of_nodes(each.nodes);
    const Hierarchy hierarchy = hierarchy_of(spec, each.text);
    EXPECT_EQ(has_equal_nodes(spec, hierarchy), each.equal) << each.text << ' ' << each.nodes[0];
    EXPECT_EQ(spec.of_all(hierarchy).equal_nodes, each.equal);
  }
  std::vector<PlacedRank> slow = on_nodes({4, 4});
  slow[1].place.slow = true;
  EXPECT_FALSE(has_equal_nodes(spec_of(slow), hierarchy_of(spec_of_nodes({4, 4}), "node")));
}

TEST(Spec, CapabilitiesOfTheWholeAndOfGroups) {
  std::vector<PlacedRank> ranks = on_nodes({4, 4});
  ranks[5].oversubscribed = true;
  ranks[5].spare = false;
  TeamSpec spec = spec_of(ranks);
  spec.reach = Reach::copies;
  const Hierarchy nodes = hierarchy_of(spec, "node");
  const Capabilities whole = spec.of_all(nodes);
  EXPECT_EQ(whole.over, Over::levels);
  EXPECT_EQ(whole.nodes, 2);
  EXPECT_EQ(whole.ranks, 8);
  EXPECT_TRUE(whole.reach == Reach::copies && whole.oversubscribed && !whole.spare &&
              !whole.within_levels);
  const Capabilities first = spec.of_group(nodes.levels[0].groups[0]);
  EXPECT_EQ(first.over, Over::shm);
  EXPECT_EQ(first.ranks, 4);
  EXPECT_TRUE(first.within_levels && !first.oversubscribed && first.spare);
  const Capabilities between = spec.of_group(nodes.levels[1].groups[0]);
  EXPECT_EQ(between.over, Over::p2p);
  EXPECT_EQ(between.ranks, 2);
  EXPECT_TRUE(between.oversubscribed);
  EXPECT_TRUE(needs_messages(nodes));

  const TeamSpec one = spec_of_nodes({4});
  const Hierarchy flat = hierarchy_of(one, "flat");
  EXPECT_TRUE(is_flat(flat));
  EXPECT_FALSE(needs_messages(flat));
  EXPECT_EQ(one.of_all(flat).over, Over::shm);
  EXPECT_EQ(one.of_all(flat).nodes, 1);
}

TEST(Spec, AllRanksTakePartWhereNodesHaveAsManyEach) {
  EXPECT_TRUE(has_as_many_each(spec_of_nodes({2, 2})));
  EXPECT_TRUE(has_as_many_each(spec_of_nodes({65, 65, 65})));
  EXPECT_FALSE(has_as_many_each(spec_of_nodes({3, 2})));
  EXPECT_FALSE(has_as_many_each(spec_of_nodes({1, 1})));
  EXPECT_FALSE(has_as_many_each(spec_of_nodes({4})));
  // The third and the fourth node are slow ones of the first two.
  std::vector<PlacedRank> ranks = on_nodes({2, 2, 3, 3});
  for (std::size_t r = 4; r < 10; ++r) {
    Place& place = ranks[r].place;
    place.slow = true;
    place.attached = place.node == 3 ? 1 : 2;
  }
  const TeamSpec slow = spec_of(ranks);
  EXPECT_TRUE(has_as_many_each(slow));
  const std::vector<std::vector<int>> expected{{0, 1, 4, 5, 6}, {2, 3, 7, 8, 9}};
  EXPECT_EQ(ranks_of_nodes(slow.placement.places()), expected);
  const Hierarchy hierarchy = hierarchy_of(slow, "node");
  EXPECT_TRUE(slow.of_all(hierarchy).as_many_each);
  EXPECT_TRUE(slow.of_all(hierarchy).has_slow);
  AgreedLevels agreed;
  see_levels(slow, hierarchy, 5, agreed);
  choose_for_levels(slow, RuleSet(), "", agreed);
  EXPECT_TRUE(agreed.node.group.members == RankList(expected[0]));
  EXPECT_EQ(agreed.node.group.rank, 3);
  EXPECT_TRUE(agreed.across.group.members == RankList({5, 8}));
  EXPECT_EQ(agreed.across.group.rank, 0);
  EXPECT_EQ(agreed.parts, 2);
  EXPECT_TRUE(agreed.all.group.members == RankList({0, 1, 4, 5, 6, 2, 3, 7, 8, 9}));
  // The nodes have the same number of ranks, but not of slow ones.
  ranks[2].place.slow = true;
  ranks[2].place.attached = 2;
  EXPECT_FALSE(has_as_many_each(spec_of(ranks)));
}

Brief brief_on(std::uint64_t machine, int first_cpu, int cpus, int job_ranks) {
  Brief brief{};
  brief.machine = machine;
  for (int c = first_cpu; c < first_cpu + cpus; ++c) brief.cpus.words[c / 64] |= 1ull << c % 64;
  brief.job_ranks_on_node = job_ranks;
  return brief;
}

std::vector<bool> of_ranks(const std::vector<Brief>& briefs, bool (Placement::*fact)(int) const) {
  const Placement placement = placement_of(briefs);
  std::vector<bool> list;
  for (int r = 0; r < placement.ranks(); ++r) list.push_back((placement.*fact)(r));
  return list;
}

TEST(Spec, OversubscribedIsAMachineWithMoreRanksThanProcessors) {
  const auto judge = [](std::vector<Brief> briefs) {
    return of_ranks(briefs, &Placement::oversubscribed);
  };
  using Bits = std::vector<bool>;
  EXPECT_EQ(judge({brief_on(1, 0, 2, 2), brief_on(1, 0, 2, 2)}), Bits({false, false}));
  EXPECT_EQ(judge({brief_on(1, 0, 1, 2), brief_on(1, 0, 1, 2)}), Bits({true, true}));
  EXPECT_EQ(judge({brief_on(1, 0, 1, 1), brief_on(2, 0, 1, 1)}), Bits({false, false}));
  // Two of the job's eight ranks are here, on four processors that all may use.
  EXPECT_EQ(judge({brief_on(1, 0, 4, 8), brief_on(1, 0, 4, 8)}), Bits({true, true}));
  // If they are bound to one processor each, they say nothing about the others.
  EXPECT_EQ(judge({brief_on(1, 0, 1, 8), brief_on(1, 1, 1, 8)}), Bits({false, false}));
  std::vector<Brief> limited{brief_on(1, 0, 4, 2), brief_on(1, 0, 4, 2)};
  limited[1].cpu_quota = 1;
  EXPECT_EQ(judge(limited), Bits({true, true}));
}

TEST(Spec, SpareAreTwoProcessorsForEachRankOfTheJob) {
  const auto judge = [](std::vector<Brief> briefs) { return of_ranks(briefs, &Placement::spare); };
  using Bits = std::vector<bool>;
  EXPECT_EQ(judge({brief_on(1, 0, 4, 2), brief_on(1, 0, 4, 2)}), Bits({true, true}));
  EXPECT_EQ(judge({brief_on(1, 0, 3, 2), brief_on(1, 0, 3, 2)}), Bits({false, false}));
  EXPECT_EQ(judge({brief_on(1, 0, 4, 3), brief_on(1, 0, 4, 3)}), Bits({false, false}));
  EXPECT_EQ(judge({brief_on(1, 0, 2, 1), brief_on(2, 0, 1, 1)}), Bits({true, false}));
  std::vector<Brief> limited{brief_on(1, 0, 4, 2), brief_on(1, 0, 4, 2)};
  limited[1].cpu_quota = 3;
  EXPECT_EQ(judge(limited), Bits({false, false}));
}

}  // namespace
}  // namespace sumac
