// SPDX-License-Identifier: BSD-3-Clause
// All teams of a process share a context. The back end has one; tests have one for each of their
// ranks.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "config/options.h"
#include "rules/choice_table.h"
#include "rules/rules.h"
#include "team/known_groups.h"
#include "team/measure.h"
#include "transport/p2p/messages.h"
#include "transport/shm/arena.h"

namespace sumac {

// When a team has ended, its messages are kept for another team of the same ranks. Requests are
// completed at different times on different ranks, so a team may end on one rank long before it
// ends on others, and freeing its messages' communicator would need all ranks at once.
struct TeamMessages {
  std::uint64_t purpose = 0;  // equal for the same ranks in the same hierarchy
  std::uint64_t id = 0;       // identifies the object, the same on all its ranks; not 0
  std::shared_ptr<Messages> messages;
};

// These are the idle messages of one process. Thread-safe: threads may set up teams of the same
// ranks at the same time, so what one of them has found belongs to it at once.
class IdleMessages {
 public:
  // Keeps messages. None of them may be under way.
  void keep(TeamMessages messages);
  // Both take messages out, and return null ones with the id 0 if there are none.
  TeamMessages take_for(std::uint64_t purpose);
  TeamMessages take(std::uint64_t id);
  void clear();

 private:
  template <class Wanted>
  TeamMessages take_first(Wanted wanted);

  std::mutex mutex_;
  std::vector<TeamMessages> idle_;
};

struct Context {
  const sumac_options& options;
  const RuleSet& rules;  // the user's, from SUMAC_RULES
  Arena& arena;
  IdleMessages& idle;
  KnownMeasures& measures;
  KnownGroups& groups;
  Family family;          // family of the MPI below
  std::uint64_t process;  // a word that no other process has which ever joins a team with it
  LineClock clock = {};
  // False if the ranks of a node can only send messages to one another, because nodes are
  // simulated.
  bool shares_memory = true;

  Control control() const { return static_cast<Control>(options.shm_control); }
};

}  // namespace sumac
