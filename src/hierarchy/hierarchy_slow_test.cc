// SPDX-License-Identifier: BSD-3-Clause
// The tests compare hierarchies of fast and slow ranks with expected ones that are written out.
// Capital letters are nodes of slow ranks.
#include "hierarchy/hierarchy_test.h"

namespace sumac {
namespace {

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
