// SPDX-License-Identifier: BSD-3-Clause
// This file has the levels that "auto" chooses.
#include <set>

#include "hierarchy/hierarchy_build.h"

namespace sumac {
namespace {

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
