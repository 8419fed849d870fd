// SPDX-License-Identifier: BSD-3-Clause
// What the ranks of a team have told each other, as far as hierarchies and choices depend on it,
// and the Capabilities of a level and of the whole that follow. The same on all ranks.
#pragma once

#include <cstdint>
#include <vector>

#include "hierarchy/hierarchy.h"
#include "levels/call_plan.h"
#include "transport/shm/layout.h"

namespace sumac {

struct TeamSpec {
  std::vector<Place> places;         // by rank
  std::vector<bool> oversubscribed;  // by rank: its machine has more ranks than processors
  std::vector<bool> spare;           // by rank: its machine has two processors a rank or more
  Family family = Family::any;
  std::uint16_t node_radix = 0;  // SUMAC_NODE_RADIX
  bool in_rank_order = false;    // SUMAC_REPRODUCIBLE
  Reach reach = Reach::none;     // of the buffers of a node's ranks by one another
  Measured measured;             // of all ranks, where they are one group

  int ranks() const { return static_cast<int>(places.size()); }

  // Of a group of a hierarchy's level, of which `member` is a rank; `shared`: it shares memory.
  Capabilities of_group(int ranks, int member, bool shared) const;
  Capabilities of_group(const Group& group) const {
    return of_group(static_cast<int>(group.members.size()), group.members[0], group.one_node);
  }
  // Of all ranks, as one group in shared memory, and over a hierarchy (which may be flat).
  Capabilities of_one_group() const;
  Capabilities of_all(const Hierarchy& hierarchy) const;
  // The slots of a group that shares memory, of which `member` is a rank. Payloads used in turn let
  // lines leave the caches of other processors. Ranks that share processors share their caches, and
  // the deeper a ring, the more a rank does before the others must get the processor.
  Slots slots_of(int member) const {
    return oversubscribed[static_cast<std::size_t>(member)] ? Slots::deep : Slots::in_turn;
  }
};

// What `rank` agrees on with the others about a hierarchy: `groups` are the levels it takes part in
// (levels_of()), for which `rules`, or `algo` in the text of SUMAC_ALGO, choose.
AgreedLevels agreed_levels(const TeamSpec& spec, const Hierarchy& hierarchy, int rank,
                           std::vector<LevelGroup> groups, const RuleSet& rules, const char* algo);

// True for one group that shares memory, which is served without levels.
bool is_flat(const Hierarchy& hierarchy);

bool needs_messages(const Hierarchy& hierarchy);

// True for two levels: nodes that share memory, of as many ranks each, none of them slow, and
// messages between the nodes. Required by multi_leader.
bool has_equal_nodes(const TeamSpec& spec, const Hierarchy& hierarchy);

// True for several nodes of as many ranks each, two or more, of which as many are slow; these are
// counted at their host. Required by all_ranks.
bool has_as_many_each(const TeamSpec& spec);

// Of such nodes: whether some of their ranks are slow and others are not.
bool has_slow_ranks(const TeamSpec& spec);

}  // namespace sumac
