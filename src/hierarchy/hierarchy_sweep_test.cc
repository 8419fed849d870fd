// SPDX-License-Identifier: BSD-3-Clause
// The tests check properties that every hierarchy has, for random machines, specifications and
// designs.
#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "hierarchy/hierarchy_test.h"

namespace sumac {
namespace {

using Random = std::mt19937;

int below(Random& random, int bound) {
  return static_cast<int>(random() % static_cast<unsigned>(bound));
}

// Draws the node of each rank: contiguous, round-robin, random or uneven.
std::vector<int> random_mapping(Random& random, int ranks) {
  const int nodes = 1 + below(random, std::min(ranks, 8));
  const int style = below(random, 4);
  std::vector<int> mapping;
  for (int rank = 0; rank < ranks; ++rank) {
    const int contiguous = rank * nodes / ranks;
    const int uneven = std::max(0, rank - ranks + nodes);
    const int choices[] = {contiguous, rank % nodes, below(random, nodes), uneven};
    mapping.push_back(choices[style]);
  }
  if (below(random, 10) == 0) {
    for (int rank = 0; rank < ranks; ++rank) mapping[static_cast<std::size_t>(rank)] = rank;
  }
  return mapping;
}

// Returns the object of `cores` cores that holds the core, as the number of its first core; now and
// then it is unknown.
int number_of(Random& random, int core, int cores, int unknown_in_100) {
  return below(random, 100) < unknown_in_100 ? -1 : core / cores * cores;
}

std::vector<Place> random_places(Random& random, int ranks) {
  const std::vector<int> mapping = random_mapping(random, ranks);
  const int unknown = below(random, 3) * 20, slow_style = below(random, 4);
  std::vector<int> met(mapping.size());
  std::vector<bool> slow_node(mapping.size());
  for (std::size_t i = 0; i < slow_node.size(); ++i) slow_node[i] = random() % 2;
  std::vector<Place> places;
  for (const int node : mapping) {
    const auto n = static_cast<std::size_t>(node);
    const int core = below(random, 4) ? met[n]++ % 48 : below(random, 48);
    Place place;
    place.node = 1000 - static_cast<std::uint64_t>(node);
    place.host = 500 + static_cast<std::uint64_t>(node);
    place.at.core = number_of(random, core, 1, unknown);
    place.at.l2 = number_of(random, core, 2, unknown);
    place.at.l3 = number_of(random, core, 6, unknown);
    place.at.numa = number_of(random, core, 12, unknown);
    place.at.package = number_of(random, core, 24, unknown);
    if (slow_style == 1) place.slow = slow_node[n];
    if (slow_style == 2) place.slow = random() % 3 == 0;
    if (slow_style == 3) place.slow = core >= 24;
    if (place.slow && node % 3) place.attached = 500 + static_cast<std::uint64_t>(node / 2);
    places.push_back(place);
  }
  return places;
}

LevelSpec random_list(Random& random, int ranks) {
  LevelSpec level;
  level.kind = LevelKind::list;
  level.groups.resize(static_cast<std::size_t>(1 + below(random, 4)));
  for (int rank = 0; rank < ranks; ++rank) {
    const auto group = static_cast<std::size_t>(below(random, 6));
    if (group < level.groups.size()) level.groups[group].push_back(rank);
  }
  return level;
}

HierarchySpec random_spec(Random& random, int ranks) {
  HierarchySpec spec;
  spec.automatic = below(random, 10) == 0;
  const int depth = below(random, 6);
  std::set<LevelKind> kinds;
  int others = 0;
  for (int i = 0; i < depth; ++i) {
    const auto kind = static_cast<LevelKind>(below(random, 8));
    if (kind <= LevelKind::node) {
      kinds.insert(kind);
    } else {
      ++others;
    }
  }
  for (const LevelKind kind : kinds) spec.levels.push_back({kind, 0, {}});
  for (; others > 0; --others) {
    LevelSpec level{LevelKind::ranks, 2 + below(random, 5), {}};
    if (random() % 2) level = random_list(random, ranks);
    const auto position = below(random, static_cast<int>(spec.levels.size()) + 1);
    spec.levels.insert(spec.levels.begin() + position, level);
  }
  return spec;
}

int object_of(const Place& place, const std::string& kind) {
  const Location& at = place.at;
  const std::map<std::string, int> numbers = {
      {"core", at.core}, {"l2", at.l2}, {"l3", at.l3}, {"numa", at.numa}, {"package", at.package}};
  const auto found = numbers.find(kind);
  return found == numbers.end() ? -2 : found->second;
}

struct Case {
  std::vector<Place> places;
  HierarchySpec spec;
  SlowDesign design = SlowDesign::basic;
  Hierarchy made;

  bool two_classes() const {
    const auto slow = std::count_if(places.begin(), places.end(), [](auto& p) { return p.slow; });
    return slow > 0 && slow < static_cast<std::ptrdiff_t>(places.size());
  }
  const Place& at(int rank) const { return places[static_cast<std::size_t>(rank)]; }
};

void check_nesting(const Case& c) {
  std::vector<int> active;
  for (std::size_t i = 0; i < c.places.size(); ++i) active.push_back(static_cast<int>(i));
  ASSERT_FALSE(c.made.levels.empty());
  for (const HierarchyLevel& level : c.made.levels) {
    std::vector<int> members, leaders, firsts;
    for (const Group& group : level.groups) {
      ASSERT_FALSE(group.members.empty());
      EXPECT_TRUE(std::is_sorted(group.members.begin(), group.members.end()));
      members.insert(members.end(), group.members.begin(), group.members.end());
      firsts.push_back(group.members[0]);
      leaders.push_back(group.members.at(static_cast<std::size_t>(group.leader)));
    }
    EXPECT_TRUE(std::is_sorted(firsts.begin(), firsts.end()));
    std::sort(members.begin(), members.end());
    ASSERT_EQ(members, active) << level.name;
    EXPECT_TRUE(level.groups.size() < active.size() || active.size() == 1) << level.name;
    std::sort(leaders.begin(), leaders.end());
    active = leaders;
  }
  EXPECT_EQ(active.size(), 1u);
}

void check_group(const Case& c, const std::string& level, const Group& group) {
  const int first = group.members[0];
  const bool one_node = std::all_of(group.members.begin(), group.members.end(),
                                    [&](int r) { return c.at(r).node == c.at(first).node; });
  EXPECT_EQ(group.one_node, one_node);
  const int number = object_of(c.at(first), level);
  if (number > -2 || level == "node") {
    EXPECT_TRUE(one_node) << level;
  }
  for (int rank : group.members) EXPECT_EQ(object_of(c.at(rank), level), number) << level;
  if (level.starts_with("ranks:")) {
    EXPECT_LE(group.members.size(), std::stoul(level.substr(6)));
  }
  const int leader = group.members[static_cast<std::size_t>(group.leader)];
  for (int rank : group.members) {
    const bool better = c.two_classes() && c.at(leader).slow && !c.at(rank).slow;
    EXPECT_FALSE(better) << level;
    if (c.at(rank).slow == c.at(leader).slow || !c.two_classes()) {
      EXPECT_GE(rank, leader);
    }
  }
}

// Returns the node after which a rank's host complex is named, derived directly from the rules.
std::vector<std::uint64_t> complexes(const Case& c) {
  std::vector<std::uint64_t> hosts, result(c.places.size());
  std::set<std::uint64_t> with_fast;
  for (const Place& p : c.places) {
    if (!p.slow) with_fast.insert(p.node);
  }
  for (const Place& p : c.places) {  // in the order of first ranks
    if (with_fast.count(p.node) && !std::count(hosts.begin(), hosts.end(), p.node)) {
      hosts.push_back(p.node);
    }
  }
  std::map<std::uint64_t, std::uint64_t> of_unit;
  std::set<std::uint64_t> met;
  std::size_t dealt = 0;
  for (const Place& at_node : c.places) {
    if (!met.insert(at_node.node).second) continue;
    const auto unit = std::find_if(c.places.begin(), c.places.end(), [&](const Place& p) {
      return p.slow && p.node == at_node.node;
    });
    if (unit == c.places.end()) continue;
    const auto named = std::find_if(c.places.begin(), c.places.end(), [&](const Place& p) {
      return !p.slow && unit->attached && p.host == unit->attached;
    });
    std::uint64_t& host = of_unit[at_node.node];
    if (named != c.places.end()) {
      host = named->node;
    } else if (with_fast.count(at_node.node)) {
      host = at_node.node;
    } else {
      host = hosts[dealt++ % hosts.size()];
    }
  }
  for (std::size_t i = 0; i < result.size(); ++i) {
    result[i] = c.places[i].slow ? of_unit[c.places[i].node] : c.places[i].node;
  }
  return result;
}

void check_attach(const Case& c, const HierarchyLevel& level) {
  for (const Group& group : level.groups) {
    const auto fast = std::count_if(group.members.begin(), group.members.end(),
                                    [&](int rank) { return !c.at(rank).slow; });
    EXPECT_EQ(fast, 1);
  }
}

void check_classes(const Case& c) {
  const std::vector<std::uint64_t> complex = complexes(c);
  bool above = false;
  for (const HierarchyLevel& level : c.made.levels) {
    const bool attach = level.name == "attach";
    if (attach) check_attach(c, level);
    for (const Group& group : level.groups) {
      int slow = 0;
      std::set<std::uint64_t> met, nodes;
      for (int rank : group.members) {
        slow += c.at(rank).slow;
        met.insert(complex[static_cast<std::size_t>(rank)]);
        nodes.insert(c.at(rank).node);
      }
      if (above || met.size() > 1) {
        EXPECT_EQ(slow, 0) << level.name;
      }
      if (above || attach) continue;
      EXPECT_EQ(nodes.size(), 1u) << level.name;
      EXPECT_TRUE(slow == 0 || slow == static_cast<int>(group.members.size())) << level.name;
      if (c.design == SlowDesign::direct && slow) {
        EXPECT_EQ(group.members.size(), 1u);
      }
      EXPECT_NE(c.design, SlowDesign::peer) << "attach comes first";
    }
    above = above || attach;
  }
  EXPECT_TRUE(above);
}

// Every fast rank of a host gets the same number of slow ranks as the others, give or take one.
void check_peers(const Case& c) {
  const std::vector<std::uint64_t> complex = complexes(c);
  std::map<std::uint64_t, std::set<std::size_t>> sizes;
  for (const Group& group : c.made.levels[0].groups) {
    sizes[complex[static_cast<std::size_t>(group.members[0])]].insert(group.members.size());
  }
  for (const auto& [host, different] : sizes)
    EXPECT_LE(*different.rbegin() - *different.begin(), 1u);
}

void check(const Case& c) {
  check_nesting(c);
  if (testing::Test::HasFatalFailure()) return;
  for (const HierarchyLevel& level : c.made.levels) {
    for (const Group& group : level.groups) check_group(c, level.name, group);
  }
  if (c.two_classes()) check_classes(c);
  if (c.two_classes() && c.design == SlowDesign::peer) check_peers(c);
}

bool too_many_ranks(const Case& c) {
  std::map<std::uint64_t, int> on_node;
  for (const Place& place : c.places) ++on_node[place.node];
  int most = 0;
  for (const auto& [node, ranks] : on_node) most = std::max(most, ranks);
  return std::any_of(c.spec.levels.begin(), c.spec.levels.end(), [most](const LevelSpec& level) {
    return level.kind == LevelKind::ranks && level.ranks > most;
  });
}

TEST(HierarchySweep, EveryOneNestsAndKeepsItsGroupsTogether) {
  int built_ones = 0;
  for (unsigned seed = 0; seed < 4000; ++seed) {
    Random random(seed);
    Case c;
    const int ranks = 1 + below(random, seed % 4 ? 64 : 8);
    c.places = random_places(random, ranks);
    c.spec = random_spec(random, ranks);
    c.design = static_cast<SlowDesign>(below(random, 3));
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::string problem;
    if (!build_hierarchy(c.spec, c.places, c.design, c.made, problem)) {
      ASSERT_TRUE(problem.starts_with("ranks:") && too_many_ranks(c)) << problem;
      continue;
    }
    ++built_ones;
    check(c);
    Hierarchy again = c.made;
    ASSERT_TRUE(build_hierarchy(c.spec, c.places, c.design, again, problem));
    ASSERT_EQ(shown(again), shown(c.made));
    if (testing::Test::HasFailure()) {
      FAIL() << shown(c.made);
    }
  }
  EXPECT_GT(built_ones, 3000);
}

TEST(HierarchySweep, PrimesOfRanksByEveryPlainSpec) {
  for (int ranks : {2, 3, 5, 7, 13, 31, 61}) {
    for (unsigned seed = 0; seed < 20; ++seed) {
      Random random(seed);
      Case c;
      c.places = random_places(random, ranks);
      for (int kind = 0; kind <= static_cast<int>(LevelKind::node); ++kind) {
        c.spec.levels = {{static_cast<LevelKind>(kind), 0, {}}};
        for (int design = 0; design < 3; ++design) {
          c.design = static_cast<SlowDesign>(design);
          std::string problem;
          ASSERT_TRUE(build_hierarchy(c.spec, c.places, c.design, c.made, problem)) << problem;
          check(c);
          ASSERT_FALSE(testing::Test::HasFailure()) << ranks << " " << seed << shown(c.made);
        }
      }
    }
  }
}

}  // namespace
}  // namespace sumac
