// SPDX-License-Identifier: BSD-3-Clause
// A placement leads to the same hierarchies as a list of all ranks' places.
#include "team/placement.h"

#include <gtest/gtest.h>

#include <random>

#include "hierarchy/hierarchy.h"
#include "testing/random_placement.h"

namespace sumac::testing {
namespace {

std::vector<Place> places_of(const std::vector<PlacedRank>& ranks) {
  std::vector<Place> places;
  for (const PlacedRank& rank : ranks) places.push_back(rank.place);
  return places;
}

// Returns a hierarchy as text: names, leaders and members.
std::string built(const char* text, const std::vector<Place>& places, SlowDesign design) {
  HierarchySpec spec;
  Hierarchy hierarchy;
  std::string problem;
  EXPECT_TRUE(parse_hierarchy(text, spec, problem)) << problem;
  if (!build_hierarchy(spec, places, design, hierarchy, problem)) return problem;
  std::string all;
  for (const HierarchyLevel& level : hierarchy.levels) {
    all += level.name + ":";
    for (const Group& group : level.groups) {
      all += group.one_node ? " (" : " [";
      for (const int member : group.members) all += std::to_string(member) + ",";
      all += "by " + std::to_string(group.leader);
    }
    all += "; ";
  }
  return all;
}

void expect_same(const Placement& placement, const std::vector<PlacedRank>& ranks) {
  const int count = static_cast<int>(ranks.size());
  ASSERT_EQ(placement.ranks(), count);
  bool any_oversubscribed = false, all_spare = true, any_slow = false;
  for (int r = 0; r < count; ++r) {
    const PlacedRank& rank = ranks[static_cast<std::size_t>(r)];
    ASSERT_EQ(placement.oversubscribed(r), rank.oversubscribed);
    ASSERT_EQ(placement.spare(r), rank.spare);
    any_oversubscribed |= rank.oversubscribed;
    all_spare &= rank.spare;
    any_slow |= rank.place.slow;
  }
  EXPECT_EQ(placement.any_oversubscribed(), any_oversubscribed);
  EXPECT_EQ(placement.all_spare(), all_spare);
  EXPECT_EQ(placement.any_slow(), any_slow);
  std::vector<int> on_node, on_machine;
  const PlacedRank& last = ranks.back();
  for (int r = 0; r < count; ++r) {
    const PlacedRank& rank = ranks[static_cast<std::size_t>(r)];
    if (rank.place.node == last.place.node) on_node.push_back(r);
    if (rank.machine == last.machine) on_machine.push_back(r);
  }
  EXPECT_TRUE(placement.on_node_of(count - 1) == RankList(on_node));
  EXPECT_TRUE(placement.on_machine_of(count - 1) == RankList(on_machine));
  const std::vector<Place> told = places_of(ranks), made = placement.places();
  for (const char* text :
       {"auto", "node", "numa,node", "core,l3,package", "ranks:2,node", "flat"}) {
    for (const SlowDesign design : {SlowDesign::basic, SlowDesign::direct, SlowDesign::peer}) {
      ASSERT_EQ(built(text, made, design), built(text, told, design));
    }
  }
  EXPECT_EQ(ranks_of_nodes(made), ranks_of_nodes(told));
}

TEST(Placement, IsWhatTheRanksTold) {
  std::mt19937 random(1);
  for (int round = 0; round < 400; ++round) {
    const int most = round % 50 == 0 ? 1500 : 60;
    const std::vector<PlacedRank> ranks =
        random_placement(random, 1 + static_cast<int>(random() % static_cast<unsigned>(most)));
    const Placement placement(ranks);
    expect_same(placement, ranks);
    const std::vector<std::int32_t> words = placement.pack();
    expect_same(Placement::unpack(words.data()), ranks);
    if (HasFatalFailure()) FAIL() << "round " << round;
  }
}

TEST(Placement, SharedNodesAndDividedMachines) {
  std::vector<PlacedRank> ranks(4);
  for (std::size_t r = 0; r < 4; ++r) ranks[r].place.node = ranks[r].machine = r;
  EXPECT_FALSE(Placement(ranks).shares_nodes());
  EXPECT_FALSE(Placement(ranks).divides_machines());
  ranks[3].machine = 1;
  EXPECT_FALSE(Placement(ranks).shares_nodes());
  EXPECT_TRUE(Placement(ranks).divides_machines());
  ranks[3].place.node = 1;
  EXPECT_TRUE(Placement(ranks).shares_nodes());
  EXPECT_FALSE(Placement(ranks).divides_machines());
}

// Nodes that are alike, whatever their number, take no more than one of them if their ranks follow
// one another, and a few words for each rank of a node if the ranks are dealt in turn.
TEST(Placement, DoesNotGrowWithTheNodes) {
  constexpr int kOnNode = 16;
  for (const bool dealt : {false, true}) {
    std::size_t bytes[2] = {};
    for (const int nodes : {16, 4096}) {
      std::vector<PlacedRank> ranks;
      for (int r = 0; r < nodes * kOnNode; ++r) {
        const int node = dealt ? r % nodes : r / kOnNode;
        PlacedRank& rank = ranks.emplace_back();
        rank.place.node = rank.place.host = rank.machine = static_cast<std::uint64_t>(node) + 100;
        rank.place.at.core = dealt ? r / nodes : r % kOnNode;
      }
      const Placement placement(ranks);
      bytes[nodes > 16] = Placement::unpack(placement.pack().data()).bytes();
    }
    EXPECT_EQ(bytes[1], bytes[0]);
    EXPECT_LE(bytes[1], 1024u);
  }
}

}  // namespace
}  // namespace sumac::testing
