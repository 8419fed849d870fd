// SPDX-License-Identifier: BSD-3-Clause
// The ranks of a team have told each other this, as far as hierarchies and choices depend on it.
// The Capabilities of a level and of the whole follow from it. It is the same on all ranks.
#pragma once

#include <cstdint>
#include <vector>

#include "hierarchy/hierarchy.h"
#include "levels/call_plan.h"
#include "team/placement.h"
#include "transport/shm/layout.h"

namespace sumac {

struct TeamSpec {
  Placement placement;
  Family family = Family::any;
  std::uint16_t node_radix = 0;  // SUMAC_NODE_RADIX
  bool in_rank_order = false;    // SUMAC_REPRODUCIBLE
  Reach reach = Reach::none;     // how the ranks of a node reach one another's buffers
  Measured measured;             // measured among all ranks, if they are one group

  int ranks() const { return placement.ranks(); }

  // Returns the capabilities of a group of a hierarchy's level. `member` is one of its ranks;
  // `shared` says that it shares memory.
  Capabilities of_group(int ranks, int member, bool shared) const;
  Capabilities of_group(const Group& group) const {
    return of_group(static_cast<int>(group.members.size()), group.members[0], group.one_node);
  }
  // Return the capabilities of all ranks, as one group in shared memory, and over a hierarchy
  // (which may be flat).
  Capabilities of_one_group() const;
  Capabilities of_all(const Hierarchy& hierarchy) const;
  // Returns the slots of a group that shares memory, of which `member` is a rank. Payloads used in
  // turn let lines leave the caches of other processors. Ranks that share processors share their
  // caches, and the deeper a ring, the more a rank does before the others must get the processor.
  Slots slots_of(int member) const {
    return placement.oversubscribed(member) ? Slots::deep : Slots::in_turn;
  }
};

// Fills in how `rank` takes part in a hierarchy: all that follows from where the ranks are.
void see_levels(const TeamSpec& spec, const Hierarchy& hierarchy, int rank, AgreedLevels& agreed);
// Adds the choices, once the ranks have agreed on how they reach one another and measured their
// groups. `rules`, or `algo` in the text of SUMAC_ALGO, choose.
void choose_for_levels(const TeamSpec& spec, const RuleSet& rules, const char* algo,
                       AgreedLevels& agreed);

// Returns true for one group that shares memory, which is served without levels.
bool is_flat(const Hierarchy& hierarchy);

bool needs_messages(const Hierarchy& hierarchy);

// Returns true for two levels: nodes that share memory, of the same number of ranks each, none of
// them slow, and messages between the nodes. multi_leader requires it.
bool has_equal_nodes(const TeamSpec& spec, const Hierarchy& hierarchy);

// Returns true for several nodes of the same number of ranks each, two or more, and of the same
// number of slow ones; these are counted at their host. all_ranks requires it.
bool has_as_many_each(const TeamSpec& spec);

// Returns true if some ranks of such nodes are slow and others are not.
bool has_slow_ranks(const TeamSpec& spec);

}  // namespace sumac
