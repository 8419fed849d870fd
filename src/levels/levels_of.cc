// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstring>

#include "levels/stage.h"

namespace sumac {
namespace {

int index_of(const std::vector<int>& members, int rank) {
  const auto place = std::lower_bound(members.begin(), members.end(), rank);
  return place != members.end() && *place == rank ? static_cast<int>(place - members.begin()) : -1;
}

LevelGroup level_of(const HierarchyLevel& from, const Group& group, int rank,
                    const std::vector<int>& representative) {
  LevelGroup level;
  std::strncpy(level.name, from.name.c_str(), sizeof level.name - 1);
  level.size = static_cast<int>(group.members.size());
  level.rank = index_of(group.members, rank);
  level.leader = group.leader;
  level.shared = group.one_node;
  level.members = group.members;
  for (int r : representative) level.member_towards.push_back(index_of(group.members, r));
  return level;
}

}  // namespace

std::vector<LevelGroup> levels_of(const Hierarchy& hierarchy, int rank, int ranks) {
  std::vector<LevelGroup> levels;
  // For each rank of the communicator, this is the rank that stands for it among those that a level
  // groups.
  std::vector<int> representative;
  for (int r = 0; r < ranks; ++r) representative.push_back(r);
  std::vector<int> leader_of(static_cast<std::size_t>(ranks));
  bool takes_part = true;
  for (const HierarchyLevel& level : hierarchy.levels) {
    const Group* own = nullptr;
    for (const Group& group : level.groups) {
      const int leader = group.members[static_cast<std::size_t>(group.leader)];
      for (int member : group.members) leader_of[static_cast<std::size_t>(member)] = leader;
      if (takes_part && index_of(group.members, rank) >= 0) own = &group;
    }
    if (!own) break;
    levels.push_back(level_of(level, *own, rank, representative));
    takes_part = levels.back().rank == levels.back().leader;
    for (int& r : representative) r = leader_of[static_cast<std::size_t>(r)];
  }
  return levels;
}

void set_places(const TreeOrder& order, std::vector<LevelGroup>& levels) {
  for (LevelGroup& level : levels) {
    level.places.clear();
    int place = 0, end = 0;
    for (const int rank : order.ranks) {
      const int member = level.member_towards[static_cast<std::size_t>(rank)];
      if (member == static_cast<int>(level.places.size())) level.places.push_back(place);
      ++place;
      if (member >= 0) end = place;
    }
    level.places.push_back(end);
  }
}

}  // namespace sumac
