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
  std::uint64_t node = 0;      // equal for ranks that share memory
  std::uint64_t host = 0;      // hash of the host's name, without its domain
  std::uint64_t attached = 0;  // slow ranks: hash of the name of their host; 0: not said
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

// Parses "numa,node", "ranks:4,node", "list:0-3,8/4-7,node", "flat", "auto". False, and why, where
// it is not such a text. In a list "/" separates groups; a word that begins with a digit goes on
// with the list before it.
bool parse_hierarchy(std::string_view text, HierarchySpec& spec, std::string& problem);

// The part of SUMAC_HIERARCHY that is for a collective: "allreduce=numa,node;bcast=node;auto" has
// items with a collective's name and at most one without, for all others; "auto" where there is
// none. Points into `option` or to a constant.
std::string_view hierarchy_for(std::string_view option, std::string_view collective);

// Checks all of SUMAC_HIERARCHY. False, and why, where an item is not understood.
bool check_hierarchies(std::string_view option, std::string& problem);

// Builds it. False, and why ("ranks:8 is larger than the 4 ranks on rank 0's node"), where the spec
// does not fit these ranks. One rank alone fits every spec: one group of one.
//
// Object levels and `node` never cross nodes; nor does `ranks:N` where `node` comes later or there
// is one node. Ranks whose object of a kind is not known form one group within the next larger
// object that the spec names. Where there are fast and slow ranks, the levels up to the last one
// that is about objects or nodes keep them apart; then "attach" joins the slow ranks to the fast
// ones, and above it there are fast ranks only. Peer: "attach" comes first.
bool build_hierarchy(const HierarchySpec& spec, const std::vector<Place>& places, SlowDesign design,
                     Hierarchy& hierarchy, std::string& problem);

// This process's, from /sys and its affinity mask. `root` is "" but in tests.
Location own_location(const char* root = "");

// Class and attachment of this process, and the hash of its host's name, without its domain.
// `forced_class` is SUMAC_CLASS: 0 auto, 1 fast, 2 slow. `slow_hosts` as in SUMAC_SLOW_HOSTS: comma
// list of host name patterns (* and ?), each may name the host it belongs to: "mic*", "mic0@node7".
void classify(std::string_view slow_hosts, int forced_class, const char* host_name, Place& place);

}  // namespace sumac
