// SPDX-License-Identifier: BSD-3-Clause
// A team's collectives ask for hierarchies, by SUMAC_HIERARCHY or an info key. The result is a
// function of what all ranks know, so every rank builds the same.
#pragma once

#include <string_view>
#include <vector>

#include "base/types.h"
#include "team/team.h"

namespace sumac {

// This is one hierarchy, for all collectives that ask for it.
struct Wanted {
  std::string_view text;
  Hierarchy hierarchy;
  std::vector<Collective> collectives;
};

// Returns all hierarchies, flat ones among them. For reductions that keep the order of ranks it is
// one group of all. Warns of a text that does not fit these ranks: the automatic hierarchy takes
// its place.
std::vector<Wanted> wanted_hierarchies(const Team& team);

// Returns those that are not one group in shared memory.
std::vector<Wanted> levels_wanted(const Team& team);

// Warns of a hierarchy that was asked for but leaves the whole job one group.
void tell_if_flat(const Team& team, const std::vector<Wanted>& wanted);

}  // namespace sumac
