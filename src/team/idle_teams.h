// SPDX-License-Identifier: BSD-3-Clause
// Programs make many communicators of processes that have met before. A team that has ended stays
// set up, idle, for the next team of the same ranks: then one reduction, in which all say which
// idle team they have, takes the place of a set-up.
//
// A rank may give an idle team up at any time and for any reason, without telling the others: in
// that reduction the ranks find out, and set up a new one.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "team/team.h"

namespace sumac {

// Returns true for a team that is kept when it ends. It is the same on all its ranks.
bool can_be_idle(const Team& team);

struct IdleTeam {
  std::uint64_t key = 0;  // Team::identity, with the text of its hierarchy
  bool refused = false;   // transfers were refused
  TeamSetUp set_up;
  std::vector<BlockUse> blocks;

  // The number is the same on all its ranks, and no other team has it. It is not 0.
  std::uint64_t number() const { return set_up.trace_group; }
};

// These are the idle teams of one process. Thread-safe.
class IdleTeams {
 public:
  // Takes what the team has, if it can be idle. Nothing may be under way in it, and it must be
  // reset afterwards (Team::reset()).
  void keep(Team& team);
  // Returns an idle team of the ranks of `team`, which is not set up yet. Returns null if there is
  // none that was set up in the same state of this process (TeamSetUp::state_of_process). The
  // caller must call take_up(), put_back() or give_up() with it.
  std::unique_ptr<IdleTeam> find(const Team& team, std::uint64_t state);
  // Sets the team up with what all its ranks have kept.
  static void take_up(Team& team, std::unique_ptr<IdleTeam> idle);
  // Keeps the idle team on. No rank may have taken it up.
  void put_back(const Context& context, std::unique_ptr<IdleTeam> idle);
  // Gives up the idle team and the others of the same ranks, of which some rank may have none.
  // Messages are kept for a team that is set up.
  void give_up(const Context& context, std::unique_ptr<IdleTeam> idle);
  // Gives up all, and with them the windows on peers' memory.
  void give_up_all(const Context& context);

 private:
  static constexpr std::size_t kMost = 32;

  void add(const Context& context, std::unique_ptr<IdleTeam> idle);

  std::mutex mutex_;
  std::vector<std::unique_ptr<IdleTeam>> all_;
};

}  // namespace sumac
