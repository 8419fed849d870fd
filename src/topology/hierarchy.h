// SPDX-License-Identifier: BSD-3-Clause
// A communicator's ranks as nested groups. A function of values all ranks share, so every rank
// builds the same.
//
// The first level groups ranks; each group has a leader; the leaders are who the next level
// groups, and so on up to the last level, which is one group. A rank takes part in the first
// level and, as long as it leads, in the next. Levels that would have nothing to do (every group
// one rank) are left out; a communicator of p > 1 ranks has at least one level.
//
// Source: Cheetah (Graham et al., hierarchical collectives of any depth); two kinds of ranks after
// MVAPICH2-MIC (Kandalla et al., HOTI 2013).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sumac {

// Where a rank runs, as numbers of objects within its node: the smallest object of each kind that
// holds all the processors the rank may use; -1 where there is none (not bound, or hidden).
// Plain bytes.
struct Location {
  std::int32_t core = -1, l2 = -1, l3 = -1, numa = -1, package = -1;
};

// What the builder knows of a rank. Plain bytes.
struct Place {
  std::uint64_t node = 0;  // equal for ranks that share memory
  std::uint64_t host = 0;  // hash of the host's name
  std::uint64_t attached =
      0;  // slow ranks: hash of the name of the host they belong to; 0: not said
  Location at;
  bool slow = false;
};

enum class LevelKind : std::uint8_t { core, l2, l3, numa, package, node, ranks, list };

struct LevelSpec {
  LevelKind kind = LevelKind::node;
  int ranks = 0;                         // kind ranks: members of a group
  std::vector<std::vector<int>> groups;  // kind list: communicator ranks
};

struct HierarchySpec {
  bool automatic = false;         // chosen by the machine
  std::vector<LevelSpec> levels;  // from the smallest groups to the largest; empty: flat
};

// Which design lets slow ranks take part.
enum class SlowDesign : std::uint8_t { basic, direct, peer };

struct Group {
  std::vector<int> members;  // communicator ranks, ascending
  int leader = 0;            // index in members; a fast rank wherever there is one
  bool one_node = false;     // all members share memory
};

struct HierarchyLevel {
  std::string name;           // "numa", "ranks:4", "node", "slow", "attach", "top"
  std::vector<Group> groups;  // by their first member
};

struct Hierarchy {
  std::vector<HierarchyLevel> levels;
};

// Parses "numa,node", "ranks:4,node", "list:0-3/4-7,node", "flat", "auto". False, and why, where it
// is not such a text.
bool parse_hierarchy(std::string_view text, HierarchySpec& spec, std::string& problem);

// The part of SUMAC_HIERARCHY that is for a collective: "allreduce=numa,node;bcast=node;auto" has
// items with a collective's name and at most one without, for all others.
std::string_view hierarchy_for(std::string_view option, std::string_view collective);

// Builds it. False, and why ("ranks:8 is larger than the 4 ranks of rank 0's node"), where the spec
// does not fit these ranks.
bool build_hierarchy(const HierarchySpec& spec, const std::vector<Place>& places, SlowDesign design,
                     Hierarchy& hierarchy, std::string& problem);

// This process's, from /sys and its affinity mask. `root` is "" but in tests.
Location own_location(const char* root = "");

// Class and attachment of this process. `slow_hosts` as in SUMAC_SLOW_HOSTS: comma list of host
// name patterns (* and ?), each may name the host it belongs to: "mic*", "mic0@node7".
void classify(std::string_view slow_hosts, int forced_class, const char* host_name, Place& place);

}  // namespace sumac
