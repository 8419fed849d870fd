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

// These are the places in TreeOrder of the ranks that a rank stands for.
struct TreeSpan {
  int begin, end;
};

LevelGroup level_of(const HierarchyLevel& from, const Group& group, int rank,
                    const std::vector<TreeSpan>& spans) {
  LevelGroup level;
  std::strncpy(level.name, from.name.c_str(), sizeof level.name - 1);
  level.size = static_cast<int>(group.members.size());
  level.rank = index_of(group.members, rank);
  level.leader = group.leader;
  level.shared = group.one_node;
  level.members = group.members;
  for (const int member : group.members) {
    level.places.push_back(spans[static_cast<std::size_t>(member)].begin);
  }
  level.places.push_back(spans[static_cast<std::size_t>(group.members.back())].end);
  return level;
}

}  // namespace

std::vector<LevelGroup> levels_of(const Hierarchy& hierarchy, const TreeOrder& order, int rank) {
  std::vector<LevelGroup> levels;
  std::vector<TreeSpan> spans(static_cast<std::size_t>(order.size()));  // [rank]
  int place = 0;
  for (const int at : order.ranks) {
    spans[static_cast<std::size_t>(at)] = {place, place + 1};
    ++place;
  }
  bool takes_part = true;
  for (const HierarchyLevel& level : hierarchy.levels) {
    const Group* own = nullptr;
    for (const Group& group : level.groups) {
      if (takes_part && index_of(group.members, rank) >= 0) own = &group;
    }
    if (!own) break;
    levels.push_back(level_of(level, *own, rank, spans));
    takes_part = levels.back().rank == levels.back().leader;
    for (const Group& group : level.groups) {
      const auto span = [&](int member) -> TreeSpan& {
        return spans[static_cast<std::size_t>(member)];
      };
      const int leader = group.members[static_cast<std::size_t>(group.leader)];
      span(leader) = {span(group.members.front()).begin, span(group.members.back()).end};
    }
  }
  return levels;
}

}  // namespace sumac
