// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "base/hash.h"
#include "hierarchy/hierarchy.h"
#include "testing/collective_list.h"

namespace sumac {
namespace {

std::string problem_of(std::string_view text) {
  HierarchySpec spec;
  spec.automatic = true;
  std::string problem;
  EXPECT_FALSE(parse_hierarchy(text, spec, problem)) << text;
  EXPECT_TRUE(spec.automatic) << "must be left alone";
  return problem;
}

std::string quoted(const char* text) { return std::string("'").append(text).append("'"); }

HierarchySpec parsed(std::string_view text) {
  HierarchySpec spec;
  std::string problem;
  EXPECT_TRUE(parse_hierarchy(text, spec, problem)) << text << ": " << problem;
  return spec;
}

TEST(ParseHierarchy, Levels) {
  const HierarchySpec spec = parsed(" ranks:4, core,l2 ,l3,numa,package,node,ranks:2");
  EXPECT_FALSE(spec.automatic);
  ASSERT_EQ(spec.levels.size(), 8u);
  EXPECT_EQ(spec.levels[0].kind, LevelKind::ranks);
  EXPECT_EQ(spec.levels[0].ranks, 4);
  EXPECT_EQ(spec.levels[1].kind, LevelKind::core);
  EXPECT_EQ(spec.levels[5].kind, LevelKind::package);
  EXPECT_EQ(spec.levels[6].kind, LevelKind::node);
  EXPECT_EQ(spec.levels[7].ranks, 2);
}

TEST(ParseHierarchy, FlatAndAuto) {
  EXPECT_TRUE(parsed("flat").levels.empty());
  EXPECT_FALSE(parsed("flat").automatic);
  EXPECT_TRUE(parsed("auto").automatic);
}

TEST(ParseHierarchy, ListsMayHoldCommas) {
  const HierarchySpec spec = parsed("list:0-2,7/ 3 - 4/5,6,node,list:0/9");
  ASSERT_EQ(spec.levels.size(), 3u);
  const std::vector<std::vector<int>> groups = {{0, 1, 2, 7}, {3, 4}, {5, 6}};
  EXPECT_EQ(spec.levels[0].groups, groups);
  EXPECT_EQ(spec.levels[1].kind, LevelKind::node);
  EXPECT_EQ(spec.levels[2].groups, (std::vector<std::vector<int>>{{0}, {9}}));
}

TEST(ParseHierarchy, NamesTheUnknownWordAndTheNearest) {
  const std::string levels = "Levels: core l2 l3 numa package node ranks:N list:0-3/4-7";
  EXPECT_EQ(problem_of("numaa"), "unknown level 'numaa'; did you mean 'numa'? " + levels);
  EXPECT_EQ(problem_of("numa,nod"), "unknown level 'nod'; did you mean 'node'? " + levels);
  EXPECT_EQ(problem_of("rank:4"), "unknown level 'rank:4'; did you mean 'ranks'? " + levels);
  EXPECT_EQ(problem_of("socket"), "unknown level 'socket'. " + levels);
  EXPECT_EQ(problem_of("numa,,node"), "unknown level ''. " + levels);
  EXPECT_EQ(problem_of("node,"), "unknown level ''. " + levels);
  EXPECT_EQ(problem_of("3,node"), "unknown level '3'. " + levels);
  EXPECT_EQ(problem_of(" "), "no level is named. " + levels);
}

TEST(ParseHierarchy, LevelsGrow) {
  EXPECT_EQ(problem_of("node,numa"),
            "'numa' comes after 'node', but levels go from the smallest groups to the largest: "
            "core l2 l3 numa package node");
  EXPECT_EQ(problem_of("node,ranks:2,node"), "level 'node' is named twice");
  EXPECT_EQ(problem_of("auto,node"), "'auto' stands alone: it cannot be combined with levels");
  EXPECT_EQ(problem_of("node,flat"), "'flat' stands alone: it cannot be combined with levels");
}

TEST(ParseHierarchy, Numbers) {
  for (const char* text : {"ranks:1", "ranks:", "ranks:x", "ranks:-2", "ranks:4x", "ranks:2.5",
                           "ranks:99999999999999999999"}) {
    EXPECT_EQ(problem_of(text),
              quoted(text).append(": the members of a group are a number from 2"));
  }
  EXPECT_EQ(problem_of("ranks"), "'ranks' lacks the members of a group, as in ranks:4");
  EXPECT_EQ(problem_of("list"), "'list' lacks its ranks, as in list:0-3/4-7");
  for (const char* range : {"", "3-1", "x", "-1", "1-", "1-2-3", "0-99999999999"}) {
    const char* why = " in a list is neither a rank nor a range of ranks such as 0-3";
    EXPECT_EQ(problem_of(std::string("list:0/").append(range)), quoted(range).append(why));
  }
}

TEST(HierarchyFor, FindsTheCollectivesPart) {
  const char* option = "allreduce=numa,node; flat ;bcast = node";
  EXPECT_EQ(hierarchy_for(option, "allreduce"), "numa,node");
  EXPECT_EQ(hierarchy_for(option, "bcast"), "node");
  EXPECT_EQ(hierarchy_for(option, "reduce"), "flat");
  EXPECT_EQ(hierarchy_for("allreduce=node", "bcast"), "auto");
  EXPECT_EQ(hierarchy_for("", "bcast"), "auto");
  EXPECT_EQ(hierarchy_for("node", "bcast"), "node");
}

TEST(CheckHierarchies, NamesTheProblem) {
  std::string problem;
  EXPECT_TRUE(check_hierarchies("", problem));
  EXPECT_TRUE(check_hierarchies("allreduce=numa,node;bcast=node;auto;", problem)) << problem;
  EXPECT_FALSE(check_hierarchies("allreduc=node", problem));
  EXPECT_EQ(problem,
            "unknown collective 'allreduc'; did you mean 'allreduce'? Collectives with "
            "hierarchies: " +
                collective_list(" "));
  EXPECT_FALSE(check_hierarchies("node;flat", problem));
  EXPECT_EQ(problem, "two hierarchies without a collective's name");
  EXPECT_FALSE(check_hierarchies("bcast=node;bcast=flat", problem));
  EXPECT_EQ(problem, "two hierarchies for bcast");
  EXPECT_FALSE(check_hierarchies("node;bcast=", problem));
  EXPECT_FALSE(check_hierarchies("bcast=nodes", problem));
  EXPECT_NE(problem.find("'nodes'; did you mean 'node'"), problem.npos) << problem;
}

Place classified(const char* slow_hosts, int forced, const char* host) {
  Place place;
  place.slow = true;
  place.attached = 99;
  classify(slow_hosts, forced, host, place);
  return place;
}

TEST(Classify, ByHostName) {
  EXPECT_FALSE(classified("", 0, "node7").slow);
  EXPECT_FALSE(classified("mic*", 0, "node7").slow);
  EXPECT_FALSE(classified("*mic", 0, "mic0").slow);
  EXPECT_TRUE(classified("mic*", 0, "mic0").slow);
  EXPECT_TRUE(classified("*-dpu?", 0, "node7-dpu1").slow);
  EXPECT_FALSE(classified("*-dpu?", 0, "node7-dpu10").slow);
  EXPECT_TRUE(classified("a*b*c", 0, "aXbYbZc").slow);
  EXPECT_TRUE(classified("dpu*, mic?", 0, "mic0").slow);
  EXPECT_TRUE(classified("mic0", 0, "mic0.cluster.local").slow);
  EXPECT_TRUE(classified("*.cluster.local", 0, "mic0.cluster.local").slow);
  EXPECT_FALSE(classified(",@node7,", 0, "").slow);
}

TEST(Classify, AttachesToTheNamedHost) {
  const Place host = classified("mic*", 0, "node7.cluster.local");
  EXPECT_EQ(host.host, hash_text("node7"));
  EXPECT_EQ(host.attached, 0u);
  EXPECT_EQ(classified("mic1@node8,mic0@node7", 0, "mic0").attached, host.host);
  EXPECT_EQ(classified("mic0 @ node7.cluster.local", 0, "mic0").attached, host.host);
  EXPECT_EQ(classified("mic*", 0, "mic0").attached, 0u);
  EXPECT_EQ(classified("mic0@", 0, "mic0").attached, 0u);
  EXPECT_NE(classified("", 0, "10.0.0.1").host, classified("", 0, "10.0.0.2").host);
}

TEST(Classify, TheClassCanBeForced) {
  EXPECT_FALSE(classified("mic0@node7", 1, "mic0").slow);
  EXPECT_EQ(classified("mic0@node7", 1, "mic0").attached, 0u);
  EXPECT_TRUE(classified("", 2, "node7").slow);
  EXPECT_EQ(classified("mic0@node7", 2, "mic0").attached, hash_text("node7"));
}

}  // namespace
}  // namespace sumac
