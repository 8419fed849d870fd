// SPDX-License-Identifier: BSD-3-Clause
// These are parts of hierarchy.cc: the ranks in the form the builder uses, and levels made from
// keys.
#pragma once

#include <array>
#include <compare>
#include <string>
#include <vector>

#include "hierarchy/hierarchy.h"

namespace sumac {

inline constexpr int kObjectKinds = static_cast<int>(LevelKind::package) + 1;
inline constexpr int kNamedKinds = static_cast<int>(LevelKind::node) + 1;
inline constexpr const char* kLevelNames[kNamedKinds] = {"core", "l2",      "l3",
                                                         "numa", "package", "node"};

// Returns the number of the object of a kind, up to package; -1 if it is not known.
int object_of(const Location& at, LevelKind kind);

// The table has the ranks of a communicator, with their nodes numbered 0, 1, ... in the order of
// their first ranks.
struct RankTable {
  explicit RankTable(const std::vector<Place>& all);

  const std::vector<Place>& places;
  std::vector<int> node;      // indexed by rank
  std::vector<int> ranks_on;  // number of ranks, indexed by node
  std::vector<int> first_on;  // first rank, indexed by node
  bool two_classes = false;   // there are fast ranks and slow ones

  int size() const { return static_cast<int>(places.size()); }
  int nodes() const { return static_cast<int>(ranks_on.size()); }
  bool slow(int rank) const { return two_classes && places[rank].slow; }
  // Numbers the ranks of one class on one node.
  int unit(int rank) const { return node[rank] * 2 + slow(rank); }
};

// The key is that of the group that a rank belongs to: ranks with equal keys form a group.
struct GroupKey {
  int unit = 0;
  std::array<int, kObjectKinds> object = {};
  int with = -1;  // a rank

  auto operator<=>(const GroupKey&) const = default;
};

class LevelBuilder {
 public:
  LevelBuilder(const RankTable& ranks, Hierarchy& hierarchy);

  // Returns the ranks that the next level groups, in ascending order.
  const std::vector<int>& active() const { return active_; }
  // Adds a level that groups the active ranks by one key each. Adds nothing if every group would
  // have one rank.
  void add(std::string name, const std::vector<GroupKey>& keys);
  // Adds the last level if it is missing.
  void finish();

 private:
  Group group_of(std::vector<int> members) const;
  void push(std::string name, std::vector<Group> groups);

  const RankTable& ranks_;
  Hierarchy& hierarchy_;
  std::vector<int> active_;
};

// Adds the levels that join the slow ranks to the fast ones: afterwards only fast ranks are active.
// The levels before must leave an active rank on every node with fast ranks.
void add_attach_levels(const RankTable& ranks, SlowDesign design, LevelBuilder& levels);

// Returns the levels that "auto" chooses for these ranks.
std::vector<LevelSpec> automatic_levels(const RankTable& ranks);

}  // namespace sumac
