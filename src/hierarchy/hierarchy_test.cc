// SPDX-License-Identifier: BSD-3-Clause
// The tests compare hierarchies of one kind of ranks with expected ones that are written out.
#include "hierarchy/hierarchy_test.h"

namespace sumac {
namespace {

// Returns `each` ranks in each of `domains` NUMA domains of each of `nodes` nodes, in this order.
std::vector<Place> numa_machine(int nodes, int domains, int each) {
  std::vector<Place> places;
  for (int i = 0; i < nodes * domains * each; ++i) {
    Place place;
    place.node = static_cast<std::uint64_t>(i / (domains * each));
    place.at.numa = i / each % domains * 64;
    place.at.core = i % each + place.at.numa;
    places.push_back(place);
  }
  return places;
}

TEST(Hierarchy, OneRank) {
  for (const char* text : {"auto", "flat", "numa,node", "ranks:4", "list:0-3/4-7"}) {
    EXPECT_EQ(built(text, on_nodes("a")), "top 0");
    EXPECT_EQ(built(text, on_nodes("A")), "top 0");
  }
  Hierarchy hierarchy;
  std::string problem;
  EXPECT_FALSE(build_hierarchy({}, {}, SlowDesign::basic, hierarchy, problem));
}

TEST(Hierarchy, Flat) {
  EXPECT_EQ(built("flat", on_nodes("abab")), "top 0,1,2,3");
  EXPECT_EQ(built("flat", on_nodes("ab")), "top 0,1");
}

TEST(Hierarchy, Nodes) {
  EXPECT_EQ(built("node", on_nodes("aabb")), "node 0,1 2,3 | top 0,2");
  EXPECT_EQ(built("node", on_nodes("abab")), "node 0,2 1,3 | top 0,1");
  EXPECT_EQ(built("node", on_nodes("abbb")), "node 0 1,2,3 | top 0,1");
  EXPECT_EQ(built("node", on_nodes("aaaa")), "node 0,1,2,3");
  EXPECT_EQ(built("node", on_nodes("abc")), "top 0,1,2") << "one rank a node";
}

TEST(Hierarchy, SharedMemoryIsToldOfEachGroup) {
  HierarchySpec spec;
  spec.levels.emplace_back();
  Hierarchy hierarchy;
  std::string problem;
  ASSERT_TRUE(build_hierarchy(spec, on_nodes("abbb"), SlowDesign::basic, hierarchy, problem));
  EXPECT_TRUE(hierarchy.levels[0].groups[0].one_node);
  EXPECT_TRUE(hierarchy.levels[0].groups[1].one_node);
  EXPECT_FALSE(hierarchy.levels[1].groups[0].one_node);
}

TEST(Hierarchy, Objects) {
  const auto places = numa_machine(2, 2, 2);
  EXPECT_EQ(built("numa,node", places), "numa 0,1 2,3 4,5 6,7 | node 0,2 4,6 | top 0,4");
  EXPECT_EQ(built("numa", places), "numa 0,1 2,3 4,5 6,7 | top 0,2,4,6");
  EXPECT_EQ(built("core,numa,node", places), built("numa,node", places)) << "one rank a core";
}

TEST(Hierarchy, UnknownObjectsAreOneWithinTheNextLargerOne) {
  const auto places = numa_machine(2, 2, 2);
  EXPECT_EQ(built("l2,l3,numa,node", places), "l2 0,1 2,3 4,5 6,7 | node 0,2 4,6 | top 0,4");
  EXPECT_EQ(built("numa,package", places), "numa 0,1 2,3 4,5 6,7 | package 0,2 4,6 | top 0,4");
  EXPECT_EQ(built("l3,node", places), "l3 0,1,2,3 4,5,6,7 | top 0,4");
}

TEST(Hierarchy, RanksOfUnknownObjectsStayTogether) {
  auto places = numa_machine(1, 2, 3);
  places[1].at.numa = places[4].at.numa = -1;
  EXPECT_EQ(built("numa", places), "numa 0,2 1,4 3,5 | top 0,1,3");
}

TEST(Hierarchy, ConsecutiveRanks) {
  EXPECT_EQ(built("ranks:2,node", on_nodes("aaaabbbb")),
            "ranks:2 0,1 2,3 4,5 6,7 | node 0,2 4,6 | top 0,4");
  EXPECT_EQ(built("ranks:2,node", on_nodes("abababab")),
            "ranks:2 0,2 1,3 4,6 5,7 | node 0,4 1,5 | top 0,1");
  EXPECT_EQ(built("ranks:3,node", on_nodes("aaaab")), "ranks:3 0,1,2 3 4 | node 0,3 4 | top 0,4");
  EXPECT_EQ(built("ranks:3", on_nodes("aaaaaaa")), "ranks:3 0,1,2 3,4,5 6 | top 0,3,6");
  EXPECT_EQ(built("ranks:2,ranks:2", on_nodes("aaaaaaaa")),
            "ranks:2 0,1 2,3 4,5 6,7 | ranks:2 0,2 4,6 | top 0,4");
  EXPECT_EQ(built("ranks:3", on_nodes("aabbcc")), "ranks:3 0,1,2 3,4,5 | top 0,3")
      << "no level of nodes: by rank";
  EXPECT_EQ(built("node,ranks:2", on_nodes("abcdabcd")),
            "node 0,4 1,5 2,6 3,7 | ranks:2 0,1 2,3 | top 0,2");
  EXPECT_EQ(built("node,ranks:99", on_nodes("aabb")), "node 0,1 2,3 | ranks:99 0,2");
}

TEST(Hierarchy, MoreRanksThanAnyNodeHas) {
  EXPECT_EQ(built("ranks:8,node", on_nodes("aaaabb")),
            "error: ranks:8 is larger than the 4 ranks on rank 0's node");
  EXPECT_EQ(built("ranks:4,node", on_nodes("baabaa")), "ranks:4 0,3 1,2,4,5 | top 0,1");
  EXPECT_EQ(built("ranks:5,node", on_nodes("baabaa")),
            "error: ranks:5 is larger than the 4 ranks on rank 1's node");
  EXPECT_EQ(built("ranks:3", on_nodes("aa")),
            "error: ranks:3 is larger than the 2 ranks on rank 0's node");
}

TEST(Hierarchy, Lists) {
  EXPECT_EQ(built("list:1,3/0-0", on_nodes("aaaaa")), "list 0 1,3 2 4 | top 0,1,2,4");
  EXPECT_EQ(built("node,list:0-3/4-7", on_nodes("aabbccdd")),
            "node 0,1 2,3 4,5 6,7 | list 0,2 4,6 | top 0,4");
  EXPECT_EQ(built("list:0,3/1,2,node", on_nodes("aabb")), "list 0,3 1,2 | node 0,1");
  EXPECT_EQ(built("list:0-4", on_nodes("aaaa")),
            "error: list names rank 4, but the 4 ranks are 0 to 3");
  EXPECT_EQ(built("list:0-2/2", on_nodes("aaaa")), "error: list names rank 2 twice");
}

TEST(Hierarchy, Automatic) {
  EXPECT_EQ(built("auto", on_nodes("aaaa")), "top 0,1,2,3");
  EXPECT_EQ(built("auto", on_nodes("abab")), "node 0,2 1,3 | top 0,1");
  EXPECT_EQ(built("auto", on_nodes("abcd")), "top 0,1,2,3");
  EXPECT_EQ(built("auto", numa_machine(1, 2, 8)), built("flat", numa_machine(1, 2, 8)));
  EXPECT_EQ(built("auto", numa_machine(1, 2, 9)), built("numa", numa_machine(1, 2, 9)));
  EXPECT_EQ(built("auto", numa_machine(2, 2, 9)), built("numa,node", numa_machine(2, 2, 9)));
  EXPECT_EQ(built("auto", numa_machine(2, 2, 8)), built("node", numa_machine(2, 2, 8)));
  EXPECT_EQ(built("auto", numa_machine(2, 1, 20)), built("node", numa_machine(2, 1, 20)));
  auto caches = numa_machine(2, 2, 9);
  for (Place& place : caches) {
    place.at.l3 = place.at.numa;
    place.at.numa = 0;
  }
  EXPECT_EQ(built("auto", caches), built("l3,node", caches));
}

// The tests compare hierarchies of fast and slow ranks with expected ones that are written out.
// Capital letters are nodes of slow ranks.

constexpr SlowDesign kDesigns[] = {SlowDesign::basic, SlowDesign::direct, SlowDesign::peer};

// There are two hosts, each with a node of slow ranks.
std::vector<Place> two_hosts(std::string_view nodes = "aaAAAbbBBB") {
  std::vector<Place> places = on_nodes(nodes);
  for (Place& place : places) {
    if (place.slow) place.attached = place.node - 'A' + 'a';
  }
  return places;
}

TEST(SlowRanks, Basic) {
  const auto places = two_hosts();
  EXPECT_EQ(built("node", places), "node 0,1 2,3,4 5,6 7,8,9 | attach 0,2 5,7 | top 0,5");
  EXPECT_EQ(built("auto", places), built("node", places));
  EXPECT_EQ(built("flat", places), "slow 0 1 2,3,4 5 6 7,8,9 | attach 0,2 1 5,7 6 | top 0,1,5,6");
  EXPECT_EQ(built("ranks:2,node", places),
            "ranks:2 0,1 2,3 4 5,6 7,8 9 | node 0 2,4 5 7,9 | attach 0,2 5,7 | top 0,5");
  EXPECT_EQ(built("node,ranks:2", places),
            "node 0,1 2,3,4 5,6 7,8,9 | attach 0,2 5,7 | ranks:2 0,5");
}

TEST(SlowRanks, Direct) {
  const auto places = two_hosts();
  EXPECT_EQ(built("node", places, SlowDesign::direct),
            "node 0,1 2 3 4 5,6 7 8 9 | attach 0,2,3,4 5,7,8,9 | top 0,5");
  EXPECT_EQ(built("flat", places, SlowDesign::direct), "attach 0,2,3,4 1 5,7,8,9 6 | top 0,1,5,6");
}

TEST(SlowRanks, Peer) {
  const auto places = two_hosts();
  EXPECT_EQ(built("node", places, SlowDesign::peer),
            "attach 0,2,4 1,3 5,7,9 6,8 | node 0,1 5,6 | top 0,5");
  EXPECT_EQ(built("flat", places, SlowDesign::peer), "attach 0,2,4 1,3 5,7,9 6,8 | top 0,1,5,6");
}

TEST(SlowRanks, AFastRankLeadsThoughASlowOneComesFirst) {
  EXPECT_EQ(built("node", two_hosts("AaAaBb")), "node 0,2 1,3 4 5 | attach 0,1* 4,5* | top 1,5");
  EXPECT_EQ(built("flat", two_hosts("AAa")), "slow 0,1 2 | attach 0,2*");
  EXPECT_EQ(built("flat", two_hosts("AAa"), SlowDesign::direct), "attach 0,1,2*");
  EXPECT_EQ(built("flat", two_hosts("AAa"), SlowDesign::peer), "attach 0,1,2*");
}

TEST(SlowRanks, OneKindAloneIsNoDifferentFromTheOther) {
  for (const char* spec : {"auto", "flat", "node", "ranks:2,node"}) {
    for (const SlowDesign design : kDesigns) {
      EXPECT_EQ(built(spec, on_nodes("AABBB"), design), built(spec, on_nodes("aabbb"), design));
    }
  }
}

TEST(SlowRanks, TheSlowCoresOfANodeBelongToIt) {
  std::vector<Place> places = on_nodes("aaaabbbb");
  places[2].slow = places[3].slow = places[4].slow = true;
  EXPECT_EQ(built("node", places), "node 0,1 2,3 4 5,6,7 | attach 0,2 4,5* | top 0,5");
  EXPECT_EQ(built("node", places, SlowDesign::direct),
            "node 0,1 2 3 4 5,6,7 | attach 0,2,3 4,5* | top 0,5");
  EXPECT_EQ(built("node", places, SlowDesign::peer),
            "attach 0,2 1,3 4,5* 6 7 | node 0,1 5,6,7 | top 0,5");
}

TEST(SlowRanks, WhereNoHostIsNamedUnitsAreDealt) {
  const auto places = on_nodes("abABCb");
  EXPECT_EQ(built("node", places), "node 0 1,5 2 3 4 | attach 0,2,4 1,3 | top 0,1");
  auto named = places;
  named[2].attached = 'b';
  named[3].attached = 'z';  // nobody is there
  EXPECT_EQ(built("node", named), "node 0 1,5 2 3 4 | attach 0,3 1,2,4 | top 0,1");
}

TEST(SlowRanks, ObjectsAndListsKeepTheKindsApart) {
  std::vector<Place> places = on_nodes("aaAAaAaA");
  for (Place& place : places) place.node = place.host = 'a';
  for (int i = 0; i < 8; ++i) places[static_cast<std::size_t>(i)].at.numa = i / 4;
  EXPECT_EQ(built("numa", places), "numa 0,1 2,3 4,6 5,7 | slow 0 2,5 4 | attach 0,2 4 | top 0,4");
  EXPECT_EQ(built("list:0-3/4-7", places),
            "list 0,1 2,3 4,6 5,7 | slow 0 2,5 4 | attach 0,2 4 | top 0,4");
}

}  // namespace
}  // namespace sumac
