// SPDX-License-Identifier: BSD-3-Clause
// Ranks that have set a communicator up keep a board in their shared memory. By it they set up
// their next communicators, in a fraction of the time that the MPI's collectives take.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>

#include "transport/shm/board.h"

namespace sumac {

struct KnownGroup {
  Board board;
  // Calls on the group's communicators that the MPI has served since one was set up, as
  // count_call() weighs them. It is the same on all ranks in a call in which each waits for all.
  std::uint64_t weight = 0;
};

// These are the groups that one process knows, by Team::identity. A group is known to all of its
// ranks or to none, and stays known. Thread-safe; a group itself is not.
class KnownGroups {
 public:
  bool empty();
  // Returns the group of so many ranks; null if it is not known.
  KnownGroup* find(std::uint64_t identity, int ranks);
  void keep(std::uint64_t identity, const Board& board);

 private:
  std::mutex mutex_;
  std::map<std::uint64_t, KnownGroup> groups_;
};

}  // namespace sumac
