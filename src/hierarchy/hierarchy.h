// SPDX-License-Identifier: BSD-3-Clause
// A hierarchy is a communicator's ranks as nested groups. It is a function of values that all ranks
// share, so every rank builds the same one.
//
// The first level groups the ranks, and each group has a leader. The next level groups these
// leaders, and so on up to the last level, which is one group. A rank takes part in the first level
// and, as long as it is a leader, in the next. Levels whose groups all have one rank are left out;
// a communicator of p > 1 ranks has at least one level.
//
// Source: Cheetah (Graham et al., hierarchical collectives of any depth); two kinds of ranks after
// MVAPICH2-MIC (Kandalla et al., HOTI 2013).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "machine/location.h"

namespace sumac {

enum class LevelKind : std::uint8_t { core, l2, l3, numa, package, node, ranks, list };

struct LevelSpec {
  LevelKind kind = LevelKind::node;
  int ranks = 0;                         // kind ranks: members of a group
  std::vector<std::vector<int>> groups;  // kind list: communicator ranks
};

struct HierarchySpec {
  bool automatic = false;         // chosen by the machine's objects
  std::vector<LevelSpec> levels;  // from the smallest groups to the largest; empty: flat
};

// Slow ranks take part by one of these designs.
enum class SlowDesign : std::uint8_t { basic, direct, peer };

struct Group {
  std::vector<int> members;  // communicator ranks, ascending
  int leader = 0;            // index in members; a fast rank wherever there is one
  bool one_node = false;     // all members share memory
};

struct HierarchyLevel {
  std::string name;           // "numa", "ranks:4", "node", "slow", "attach", "top"
  std::vector<Group> groups;  // sorted by their first member
};

struct Hierarchy {
  std::vector<HierarchyLevel> levels;
};

// Parses "numa,node", "ranks:4,node", "list:0-3,8/4-7,node", "flat", "auto". Returns false, and the
// problem, if the text is none of these. In a list "/" separates groups; a word that begins with a
// digit continues the list before it.
bool parse_hierarchy(std::string_view text, HierarchySpec& spec, std::string& problem);

// Returns the part of SUMAC_HIERARCHY that is for a collective:
// "allreduce=numa,node;bcast=node;auto" has items with a collective's name and at most one without,
// for all others; the result is "auto" if there is none. It points into `option` or to a constant.
std::string_view hierarchy_for(std::string_view option, std::string_view collective);

// Checks all of SUMAC_HIERARCHY. Returns false, and the problem, if an item is not understood.
bool check_hierarchies(std::string_view option, std::string& problem);

// Builds the hierarchy. Returns false, and the problem ("ranks:8 is larger than the 4 ranks on rank
// 0's node"), if the spec does not fit these ranks. A single rank fits every spec and becomes one
// group. Object levels and `node` never cross nodes; nor does `ranks:N` if `node` comes later or
// there is one node. Ranks whose object of a kind is not known form one group within the next
// larger object that the spec names. If there are fast and slow ranks, the levels up to the last
// one that is about objects or nodes keep them apart; then "attach" joins the slow ranks to the
// fast ones, and above it there are fast ranks only. With the design "peer", "attach" comes first.
bool build_hierarchy(const HierarchySpec& spec, const std::vector<Place>& places, SlowDesign design,
                     Hierarchy& hierarchy, std::string& problem);

// Returns the ranks of each node: fast ones first, then the slow ones that belong to it, each in
// ascending order. If all ranks are slow, a node has its own.
std::vector<std::vector<int>> ranks_of_nodes(const std::vector<Place>& places);

// Returns all ranks as one group, slow ones too, led by rank 0.
Hierarchy one_group_of(const std::vector<Place>& places);

}  // namespace sumac
