// SPDX-License-Identifier: BSD-3-Clause
// This file has the table of ranks, and makes levels from keys.
#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "hierarchy/hierarchy_build.h"

namespace sumac {

int object_of(const Location& at, LevelKind kind) {
  const int numbers[kObjectKinds] = {at.core, at.l2, at.l3, at.numa, at.package};
  return numbers[static_cast<int>(kind)];
}

RankTable::RankTable(const std::vector<Place>& all) : places(all), node(all.size()) {
  std::map<std::uint64_t, int> numbers;
  bool any_slow = false, any_fast = false;
  for (int rank = 0; rank < size(); ++rank) {
    const auto [found, is_new] = numbers.try_emplace(places[rank].node, nodes());
    if (is_new) {
      ranks_on.push_back(0);
      first_on.push_back(rank);
    }
    node[rank] = found->second;
    ++ranks_on[node[rank]];
    (places[rank].slow ? any_slow : any_fast) = true;
  }
  two_classes = any_slow && any_fast;
}

LevelBuilder::LevelBuilder(const RankTable& ranks, Hierarchy& hierarchy)
    : ranks_(ranks), hierarchy_(hierarchy), active_(ranks.places.size()) {
  hierarchy_.levels.clear();
  std::iota(active_.begin(), active_.end(), 0);
}

Group LevelBuilder::group_of(std::vector<int> members) const {
  Group group;
  group.members = std::move(members);
  const auto fast = std::find_if(group.members.begin(), group.members.end(),
                                 [this](int rank) { return !ranks_.slow(rank); });
  if (fast != group.members.end()) group.leader = static_cast<int>(fast - group.members.begin());
  group.one_node = std::all_of(group.members.begin(), group.members.end(), [&](int rank) {
    return ranks_.node[rank] == ranks_.node[group.members[0]];
  });
  return group;
}

void LevelBuilder::push(std::string name, std::vector<Group> groups) {
  active_.clear();
  for (const Group& group : groups) active_.push_back(group.members[group.leader]);
  std::sort(active_.begin(), active_.end());
  hierarchy_.levels.push_back({std::move(name), std::move(groups)});
}

void LevelBuilder::add(std::string name, const std::vector<GroupKey>& keys) {
  std::vector<int> order(active_.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return keys[a] < keys[b]; });
  std::vector<std::vector<int>> groups;
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i == 0 || keys[order[i]] != keys[order[i - 1]]) groups.emplace_back();
    groups.back().push_back(active_[order[i]]);
  }
  if (groups.size() == active_.size()) return;
  std::sort(groups.begin(), groups.end());
  std::vector<Group> made;
  made.reserve(groups.size());
  for (std::vector<int>& members : groups) made.push_back(group_of(std::move(members)));
  push(std::move(name), std::move(made));
}

void LevelBuilder::finish() {
  if (active_.size() > 1 || hierarchy_.levels.empty()) push("top", {group_of(active_)});
}

namespace {

// This file has the levels that "auto" chooses.

// A node of up to so many ranks stays one group: a second level would cost more than it saves.
constexpr int kFlatRanks = 16;

// Returns true if some node has many ranks, in several objects of a kind.
bool worth_a_level(const RankTable& ranks, LevelKind kind) {
  std::vector<int> known(ranks.ranks_on.size());
  std::vector<std::set<int>> objects(ranks.ranks_on.size());
  for (int rank = 0; rank < ranks.size(); ++rank) {
    const int number = object_of(ranks.places[rank].at, kind);
    if (number < 0) continue;
    const int node = ranks.node[rank];
    objects[node].insert(number);
    if (++known[node] > kFlatRanks && objects[node].size() > 1) return true;
  }
  return false;
}

}  // namespace

std::vector<LevelSpec> automatic_levels(const RankTable& ranks) {
  std::vector<LevelSpec> levels;
  LevelSpec level;
  if (worth_a_level(ranks, LevelKind::numa)) {
    level.kind = LevelKind::numa;
    levels.push_back(level);
  } else if (ranks.nodes() > 1 && worth_a_level(ranks, LevelKind::l3)) {
    level.kind = LevelKind::l3;
    levels.push_back(level);
  }
  if (ranks.nodes() > 1) levels.emplace_back();
  return levels;
}

}  // namespace sumac
