// SPDX-License-Identifier: BSD-3-Clause
#include "hierarchy/hierarchy.h"

#include <algorithm>
#include <cstddef>
#include <set>

#include "hierarchy/hierarchy_build.h"

namespace sumac {
namespace {

class SpecBuilder {
 public:
  SpecBuilder(const RankTable& ranks, const std::vector<LevelSpec>& spec, SlowDesign design)
      : ranks_(ranks), spec_(spec), design_(design), attach_at_(attach_position()) {}

  bool fits(std::string& problem) const;
  void build(LevelBuilder& levels) const;

 private:
  std::size_t attach_position() const;
  bool before_attach(std::size_t i) const { return ranks_.two_classes && i < attach_at_; }
  bool within_node(std::size_t i) const;
  bool ranks_fit(const LevelSpec& level, std::string& problem) const;
  bool list_fits(const LevelSpec& level, std::string& problem) const;
  GroupKey object_key(std::size_t i, int rank) const;
  std::vector<GroupKey> keys(std::size_t i, const std::vector<int>& active) const;

  const RankTable& ranks_;
  const std::vector<LevelSpec>& spec_;
  const SlowDesign design_;
  const std::size_t attach_at_;
};

// Returns the position of "attach". The levels before it group fast and slow ranks apart and within
// nodes, so that every host has a fast rank to attach to.
std::size_t SpecBuilder::attach_position() const {
  if (design_ == SlowDesign::peer) return 0;
  std::size_t position = spec_.size();
  if (ranks_.nodes() == 1) return position;
  while (position > 0 && spec_[position - 1].kind > LevelKind::node) --position;
  return position;
}

// Returns true if a level that is not about objects keeps its groups within nodes.
bool SpecBuilder::within_node(std::size_t i) const {
  if (ranks_.nodes() == 1 || before_attach(i)) return true;
  return spec_[i].kind == LevelKind::ranks &&
         std::any_of(spec_.begin() + static_cast<std::ptrdiff_t>(i), spec_.end(),
                     [](const LevelSpec& level) { return level.kind == LevelKind::node; });
}

bool SpecBuilder::ranks_fit(const LevelSpec& level, std::string& problem) const {
  const auto largest = std::max_element(ranks_.ranks_on.begin(), ranks_.ranks_on.end());
  if (level.ranks <= *largest) return true;
  const int first = ranks_.first_on[static_cast<std::size_t>(largest - ranks_.ranks_on.begin())];
  problem = "ranks:" + std::to_string(level.ranks) + " is larger than the " +
            std::to_string(*largest) + " ranks on rank " + std::to_string(first) + "'s node";
  return false;
}

bool SpecBuilder::list_fits(const LevelSpec& level, std::string& problem) const {
  std::set<int> named;
  for (const std::vector<int>& group : level.groups) {
    for (int rank : group) {
      if (rank < 0 || rank >= ranks_.size()) {
        problem = "list names rank " + std::to_string(rank) + ", but the " +
                  std::to_string(ranks_.size()) + " ranks are 0 to " +
                  std::to_string(ranks_.size() - 1);
        return false;
      }
      if (!named.insert(rank).second) {
        problem = "list names rank " + std::to_string(rank) + " twice";
        return false;
      }
    }
  }
  return true;
}

bool SpecBuilder::fits(std::string& problem) const {
  for (std::size_t i = 0; i < spec_.size(); ++i) {
    const LevelSpec& level = spec_[i];
    if (level.kind == LevelKind::ranks && level.ranks < 2) {
      problem = "ranks:" + std::to_string(level.ranks) + ": a group has at least 2 ranks";
      return false;
    }
    if (level.kind == LevelKind::ranks && within_node(i) && !ranks_fit(level, problem)) {
      return false;
    }
    if (level.kind == LevelKind::list && !list_fits(level, problem)) return false;
  }
  return true;
}

// Ranks whose object is not known form one group within the next larger object that the spec names.
GroupKey SpecBuilder::object_key(std::size_t i, int rank) const {
  GroupKey key;
  key.unit = ranks_.unit(rank);
  for (; i < spec_.size(); ++i) {
    if (spec_[i].kind > LevelKind::package) continue;
    const int number = object_of(ranks_.places[rank].at, spec_[i].kind);
    key.object[static_cast<std::size_t>(spec_[i].kind)] = number;
    if (number >= 0) break;
  }
  return key;
}

std::vector<GroupKey> SpecBuilder::keys(std::size_t i, const std::vector<int>& active) const {
  const LevelSpec& level = spec_[i];
  std::vector<int> list(level.kind == LevelKind::list ? ranks_.places.size() : 0, -1);
  for (std::size_t g = 0; g < level.groups.size(); ++g) {
    for (int rank : level.groups[g]) list[static_cast<std::size_t>(rank)] = static_cast<int>(g);
  }
  const bool split = level.kind <= LevelKind::node || within_node(i);
  // Counts the ranks of each unit that came before.
  std::vector<int> met(static_cast<std::size_t>(ranks_.nodes()) * 2);
  std::vector<GroupKey> result;
  result.reserve(active.size());
  for (int rank : active) {
    GroupKey key;
    if (split) key.unit = ranks_.unit(rank);
    if (design_ == SlowDesign::direct && ranks_.slow(rank)) {
      key.with = rank;
    } else if (level.kind <= LevelKind::package) {
      key = object_key(i, rank);
    } else if (level.kind == LevelKind::ranks) {
      key.object[0] = met[static_cast<std::size_t>(key.unit)]++ / level.ranks;
    } else if (level.kind == LevelKind::list) {
      key.object[0] = list[static_cast<std::size_t>(rank)];
      if (key.object[0] < 0) key.with = rank;
    }
    result.push_back(key);
  }
  return result;
}

std::string name_of(const LevelSpec& level) {
  if (level.kind == LevelKind::ranks) return "ranks:" + std::to_string(level.ranks);
  if (level.kind == LevelKind::list) return "list";
  return kLevelNames[static_cast<int>(level.kind)];
}

void SpecBuilder::build(LevelBuilder& levels) const {
  for (std::size_t i = 0; i <= spec_.size(); ++i) {
    if (ranks_.two_classes && i == attach_at_) add_attach_levels(ranks_, design_, levels);
    if (i < spec_.size()) levels.add(name_of(spec_[i]), keys(i, levels.active()));
  }
  levels.finish();
}

}  // namespace

bool build_hierarchy(const HierarchySpec& spec, const std::vector<Place>& places, SlowDesign design,
                     Hierarchy& hierarchy, std::string& problem) {
  if (places.empty()) {
    problem = "there are no ranks";
    return false;
  }
  const RankTable ranks(places);
  const std::vector<LevelSpec> levels = spec.automatic ? automatic_levels(ranks) : spec.levels;
  const SpecBuilder builder(ranks, levels, design);
  if (ranks.size() > 1 && !builder.fits(problem)) return false;
  LevelBuilder made(ranks, hierarchy);
  if (ranks.size() > 1) {
    builder.build(made);
  } else {
    made.finish();
  }
  return true;
}

Hierarchy one_group_of(const std::vector<Place>& places) {
  Group all;
  for (std::size_t r = 0; r < places.size(); ++r) all.members.push_back(static_cast<int>(r));
  all.one_node = std::all_of(places.begin(), places.end(),
                             [&](const Place& place) { return place.node == places[0].node; });
  Hierarchy hierarchy;
  hierarchy.levels.push_back({all.one_node ? "node" : "all", {all}});
  return hierarchy;
}

}  // namespace sumac
