// SPDX-License-Identifier: BSD-3-Clause
// In tests of meetings, this is what is below and beside them: the MPI's one reduction, a clock
// that goes on with every poll, and a set-up that only says that it was made.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "interpose/process/communicator.h"
#include "team/idle_teams.h"

namespace sumac {

// Each rank has this of its own process.
struct RankProcess {
  std::uint64_t build = 1, runtimes = 0;
  IdleTeams idle;
  KnownGroups groups;
  int step = 0;  // the number of the step of its program
  int made = 0;  // calls of set_up_team()
  bool ended_job = false;
};

struct AroundMeeting {
  std::vector<RankProcess> ranks;
  std::uint64_t now_ns = 0;
  int under_way = 0;          // reductions that some rank waits for
  bool other_world = false;   // a member belongs to another one
  bool makes_boards = false;  // the first set-up makes a board
  std::string unseen;         // members that have not been seen to run Sumac
  bool absent_comes = false;  // the rank that is awaited must come now
  bool inter = false;         // this and the next hold for all communicators
  int size = 2;
  std::vector<std::byte> board_memory;
};
inline AroundMeeting around_meeting;

void begin_meetings(std::size_t ranks);

// A poll of the rank that runs takes some time, and lets another rank go on.
void yield_to_others();

}  // namespace sumac
