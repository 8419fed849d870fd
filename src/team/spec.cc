// SPDX-License-Identifier: BSD-3-Clause
#include "team/spec.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/align.h"
#include "transport/shm/layout.h"

namespace sumac {
namespace {

bool holds(const std::vector<bool>& of_ranks, bool value) {
  return std::find(of_ranks.begin(), of_ranks.end(), value) != of_ranks.end();
}

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

// Returns the number of fast ranks of a node, or of all its ranks if all are slow.
int count_fast(const TeamSpec& spec, const std::vector<int>& node) {
  const auto fast = std::count_if(node.begin(), node.end(), [&](int rank) {
    return !spec.places[static_cast<std::size_t>(rank)].slow;
  });
  return static_cast<int>(fast > 0 ? fast : node.size());
}

int count_nodes(const TeamSpec& spec) {
  std::vector<std::uint64_t> nodes;  // one entry for each run of ranks on a node
  for (const Place& place : spec.places) {
    if (nodes.empty() || nodes.back() != place.node) nodes.push_back(place.node);
  }
  std::sort(nodes.begin(), nodes.end());
  return static_cast<int>(std::unique(nodes.begin(), nodes.end()) - nodes.begin());
}

}  // namespace

Capabilities TeamSpec::of_group(int size, int member, bool shared) const {
  Capabilities capabilities;
  capabilities.ranks = size;
  capabilities.over = shared ? Over::shm : Over::p2p;
  const auto m = static_cast<std::size_t>(member);
  capabilities.oversubscribed = shared ? oversubscribed[m] : holds(oversubscribed, true);
  capabilities.spare = shared ? spare[m] : !holds(spare, false);
  capabilities.nodes = shared ? 1 : count_nodes(*this);
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
  capabilities.oversubscribed = holds(oversubscribed, true);
  capabilities.spare = !holds(spare, false);
  return capabilities;
}

Capabilities TeamSpec::of_all(const Hierarchy& hierarchy) const {
  Capabilities capabilities = of_one_group();
  if (is_flat(hierarchy)) return capabilities;
  capabilities.over = Over::levels;
  capabilities.measured = {};
  capabilities.nodes = count_nodes(*this);
  capabilities.equal_nodes = has_equal_nodes(*this, hierarchy);
  capabilities.sends = needs_messages(hierarchy);
  capabilities.as_many_each = has_as_many_each(*this);
  capabilities.has_slow = capabilities.as_many_each && has_slow_ranks(*this);
  capabilities.one_group = hierarchy.levels.size() == 1 && !hierarchy.levels[0].groups[0].one_node;
  return capabilities;
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
  const auto is_slow = [](const Place& place) { return place.slow; };
  if (hierarchy.levels.size() != 2 || hierarchy.levels[1].groups[0].one_node ||
      std::any_of(spec.places.begin(), spec.places.end(), is_slow)) {
    return false;
  }
  const std::vector<Group>& groups = hierarchy.levels[0].groups;
  // Every rank of a node needs a cache line in the slots of all others, which may be small on some
  // hosts.
  if (groups[0].members.size() > kSmallSlot / kCacheLine) return false;
  return std::all_of(groups.begin(), groups.end(), [&](const Group& group) {
    return group.one_node && group.members.size() == groups[0].members.size();
  });
}

bool has_as_many_each(const TeamSpec& spec) {
  const std::vector<std::vector<int>> nodes = ranks_of_nodes(spec.places);
  const std::vector<int>& first = nodes[0];
  return nodes.size() > 1 && first.size() > 1 &&
         std::all_of(nodes.begin(), nodes.end(), [&](const std::vector<int>& node) {
           return node.size() == first.size() && count_fast(spec, node) == count_fast(spec, first);
         });
}

bool has_slow_ranks(const TeamSpec& spec) {
  const std::vector<int> first = ranks_of_nodes(spec.places)[0];
  return count_fast(spec, first) < static_cast<int>(first.size());
}

void see_levels(const TeamSpec& spec, const Hierarchy& hierarchy, int rank, AgreedLevels& agreed) {
  agreed.whole_group = spec.of_all(hierarchy);
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
  const std::vector<std::vector<int>> nodes = ranks_of_nodes(spec.places);
  if (agreed.whole_group.sends) {
    RankList all;
    for (const std::vector<int>& node : nodes) {
      for (const int each : node) all.push_back(each);
    }
    fill(agreed.all.group, "all", all, rank);
  }
  if (has_as_many_each(spec)) {
    const auto own = std::find_if(nodes.begin(), nodes.end(), [&](const std::vector<int>& node) {
      return place_in(node, rank) >= 0;
    });
    const auto place = static_cast<std::size_t>(place_in(*own, rank));
    RankList across;
    for (const std::vector<int>& node : nodes) across.push_back(node[place]);
    agreed.parts = count_fast(spec, *own);
    fill(agreed.node.group, "node", *own, rank);
    fill(agreed.across.group, "top", across, rank);
  }
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
