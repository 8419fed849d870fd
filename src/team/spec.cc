// SPDX-License-Identifier: BSD-3-Clause
#include "team/spec.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/cpu.h"
#include "transport/shm/layout.h"

namespace sumac {
namespace {

// Returns the place of `rank` among the members, or -1.
int place_in(const std::vector<int>& members, int rank) {
  const auto found = std::find(members.begin(), members.end(), rank);
  return found == members.end() ? -1 : static_cast<int>(found - members.begin());
}

void fill(LevelGroup& group, const char* name, const RankList& members, int rank) {
  std::strncpy(group.name, name, sizeof group.name - 1);
  group.size = members.size();
  group.rank = members.index_of(rank);
  group.members = members;
}

// The ranks of each node, and how many of them are fast, or all if all are slow. It is made from
// the places of all ranks, and not kept.
struct NodeTable {
  explicit NodeTable(const Placement& placement) {
    const std::vector<Place> places = placement.places();
    ranks = ranks_of_nodes(places);
    for (const std::vector<int>& node : ranks) {
      const auto of_node = std::count_if(node.begin(), node.end(), [&](int rank) {
        return !places[static_cast<std::size_t>(rank)].slow;
      });
      fast.push_back(of_node > 0 ? static_cast<std::size_t>(of_node) : node.size());
    }
  }
  bool has_as_many_each() const {
    if (ranks.size() < 2 || ranks[0].size() < 2) return false;
    for (std::size_t n = 1; n < ranks.size(); ++n) {
      if (ranks[n].size() != ranks[0].size() || fast[n] != fast[0]) return false;
    }
    return true;
  }
  bool has_slow_ranks() const { return fast[0] < ranks[0].size(); }

  std::vector<std::vector<int>> ranks;
  std::vector<std::size_t> fast;
};

Capabilities over_levels(const TeamSpec& spec, const Hierarchy& hierarchy, const NodeTable& nodes) {
  Capabilities capabilities = spec.of_one_group();
  capabilities.over = Over::levels;
  capabilities.measured = {};
  capabilities.nodes = spec.placement.nodes();
  capabilities.equal_nodes = has_equal_nodes(spec, hierarchy);
  capabilities.sends = needs_messages(hierarchy);
  capabilities.as_many_each = nodes.has_as_many_each();
  capabilities.has_slow = capabilities.as_many_each && nodes.has_slow_ranks();
  capabilities.one_group = hierarchy.levels.size() == 1 && !hierarchy.levels[0].groups[0].one_node;
  return capabilities;
}

}  // namespace

Capabilities TeamSpec::of_group(int size, int member, bool shared) const {
  Capabilities capabilities;
  capabilities.ranks = size;
  capabilities.over = shared ? Over::shm : Over::p2p;
  capabilities.oversubscribed =
      shared ? placement.oversubscribed(member) : placement.any_oversubscribed();
  capabilities.spare = shared ? placement.spare(member) : placement.all_spare();
  capabilities.nodes = shared ? 1 : placement.nodes();
  capabilities.within_levels = true;
  capabilities.family = family;
  capabilities.node_radix = node_radix;
  capabilities.in_rank_order = in_rank_order;
  return capabilities;
}

Capabilities TeamSpec::of_one_group() const {
  Capabilities capabilities;
  capabilities.ranks = ranks();
  capabilities.family = family;
  capabilities.node_radix = node_radix;
  capabilities.in_rank_order = in_rank_order;
  capabilities.reach = reach;
  capabilities.measured = measured;
  capabilities.oversubscribed = placement.any_oversubscribed();
  capabilities.spare = placement.all_spare();
  return capabilities;
}

Capabilities TeamSpec::of_all(const Hierarchy& hierarchy) const {
  if (is_flat(hierarchy)) return of_one_group();
  return over_levels(*this, hierarchy, NodeTable(placement));
}

bool is_flat(const Hierarchy& hierarchy) {
  return hierarchy.levels.size() == 1 && hierarchy.levels[0].groups.size() == 1 &&
         hierarchy.levels[0].groups[0].one_node;
}

bool needs_messages(const Hierarchy& hierarchy) {
  for (const HierarchyLevel& level : hierarchy.levels) {
    for (const Group& group : level.groups) {
      if (!group.one_node && group.members.size() > 1) return true;
    }
  }
  return false;
}

bool has_equal_nodes(const TeamSpec& spec, const Hierarchy& hierarchy) {
  if (hierarchy.levels.size() != 2 || hierarchy.levels[1].groups[0].one_node ||
      spec.placement.any_slow()) {
    return false;
  }
  const std::vector<Group>& groups = hierarchy.levels[0].groups;
  // All ranks of a node would send: of a chunk of 256 KiB, more of them less than 4 KiB each.
  constexpr std::size_t kMostLeaders = 64;
  if (groups[0].members.size() > kMostLeaders) return false;
  return std::all_of(groups.begin(), groups.end(), [&](const Group& group) {
    return group.one_node && group.members.size() == groups[0].members.size();
  });
}

bool has_as_many_each(const TeamSpec& spec) { return NodeTable(spec.placement).has_as_many_each(); }

bool has_slow_ranks(const TeamSpec& spec) { return NodeTable(spec.placement).has_slow_ranks(); }

void see_levels(const TeamSpec& spec, const Hierarchy& hierarchy, int rank, AgreedLevels& agreed) {
  const NodeTable nodes(spec.placement);
  agreed.whole_group = over_levels(spec, hierarchy, nodes);
  agreed.depth = hierarchy.levels.size();
  agreed.order = std::make_shared<const TreeOrder>(tree_order(hierarchy, spec.ranks()));
  agreed.place = agreed.order->ranks.index_of(rank);
  agreed.own = rank;
  agreed.groups = levels_of(hierarchy, *agreed.order, rank);
  if (agreed.whole_group.equal_nodes) {
    RankList peers;
    for (const Group& node : hierarchy.levels[0].groups) {
      peers.push_back(node.members[static_cast<std::size_t>(agreed.groups[0].rank)]);
    }
    fill(agreed.counterparts.group, "top", peers, rank);
  }
  if (agreed.whole_group.sends) {
    RankList all;
    for (const std::vector<int>& node : nodes.ranks) {
      for (const int each : node) all.push_back(each);
    }
    fill(agreed.all.group, "all", all, rank);
  }
  if (!agreed.whole_group.as_many_each) return;
  const auto own =
      std::find_if(nodes.ranks.begin(), nodes.ranks.end(),
                   [&](const std::vector<int>& node) { return place_in(node, rank) >= 0; });
  const auto place = static_cast<std::size_t>(place_in(*own, rank));
  RankList across;
  for (const std::vector<int>& node : nodes.ranks) across.push_back(node[place]);
  agreed.parts = static_cast<int>(nodes.fast[0]);
  fill(agreed.node.group, "node", *own, rank);
  fill(agreed.across.group, "top", across, rank);
}

void choose_for_levels(const TeamSpec& spec, const RuleSet& rules, const char* algo,
                       AgreedLevels& agreed) {
  for (const LevelGroup& level : agreed.groups) {
    Capabilities of_level = spec.of_group(level.size, level.members[0], level.shared);
    of_level.measured = level.measured;
    agreed.choices.push_back({rules, of_level, algo});
  }
  const LevelGroup& lowest = agreed.groups[0];
  if (spec.reach == Reach::maps && lowest.shared && lowest.size > 1) {
    Capabilities in_place = spec.of_group(lowest.size, lowest.members[0], true);
    in_place.reach = spec.reach;
    in_place.measured = lowest.measured;
    in_place.within_levels = false;
    agreed.direct = {rules, in_place, algo};
  }
  agreed.whole_group.reach = spec.reach;
  agreed.whole = {rules, agreed.whole_group, algo};
  for (SendingGroup* each : {&agreed.counterparts, &agreed.all, &agreed.node, &agreed.across}) {
    const LevelGroup& group = each->group;
    if (group.members.empty()) continue;
    each->choices = {rules, spec.of_group(group.size, group.members[0], false), algo};
  }
}

}  // namespace sumac
