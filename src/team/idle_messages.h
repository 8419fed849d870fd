// SPDX-License-Identifier: BSD-3-Clause
// When a team has ended, its messages are kept for another team of the same ranks. Requests are
// completed at different times on different ranks, so a team may end on one rank long before it
// ends on others, and freeing its messages' communicator would need all ranks at once.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "transport/p2p/messages.h"

namespace sumac {

struct TeamMessages {
  std::uint64_t purpose = 0;  // equal for the same ranks in the same hierarchy
  std::uint64_t id = 0;       // identifies the object, the same on all its ranks; not 0
  std::shared_ptr<Messages> messages;
};

// These are the idle messages of one process. Thread-safe.
class IdleMessages {
 public:
  // Keeps messages. None of them may be under way.
  void keep(TeamMessages messages);
  // find() returns the id of messages that are idle here, or 0. holds() returns true if those of
  // this id are.
  std::uint64_t find(std::uint64_t purpose);
  bool holds(std::uint64_t id);
  TeamMessages take(std::uint64_t id);
  void clear();

 private:
  std::mutex mutex_;
  std::vector<TeamMessages> idle_;
};

}  // namespace sumac
