// SPDX-License-Identifier: BSD-3-Clause
// All teams of a process share a context. The back end has one; tests have one for each of their
// ranks.
#pragma once

#include <cstdint>

#include "config/options.h"
#include "rules/choice_table.h"
#include "rules/rules.h"
#include "team/idle_messages.h"
#include "team/measure.h"
#include "transport/shm/arena.h"

namespace sumac {

struct Context {
  const sumac_options& options;
  const RuleSet& rules;  // the user's, from SUMAC_RULES
  Arena& arena;
  IdleMessages& idle;
  KnownMeasures& measures;
  Family family;          // family of the MPI below
  std::uint64_t process;  // a word that no other process has which ever joins a team with it
  LineClock clock = {};
  // False if the ranks of a node can only send messages to one another, because nodes are
  // simulated.
  bool shares_memory = true;

  Control control() const { return static_cast<Control>(options.shm_control); }
};

}  // namespace sumac
