// SPDX-License-Identifier: BSD-3-Clause
// Messages whose team has ended, kept for another team of the same ranks. Requests are waited for
// at different times on different ranks, so a team may end on one rank long before it does on
// others, and freeing what carries the messages would take all ranks together.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "transport/p2p/messages.h"

namespace sumac {

struct TeamMessages {
  std::uint64_t purpose = 0;  // equal for the same ranks in the same hierarchy
  std::uint64_t id = 0;       // of the object, the same on all its ranks; not 0
  std::shared_ptr<Messages> messages;
};

// Of one process. Safe to call from several threads.
class IdleMessages {
 public:
  // Nothing may be under way.
  void keep(TeamMessages messages);
  // The id of one that is idle here, or 0; and one that all its ranks know to be idle.
  std::uint64_t find(std::uint64_t purpose);
  bool holds(std::uint64_t id);
  TeamMessages take(std::uint64_t id);
  void clear();

 private:
  std::mutex mutex_;
  std::vector<TeamMessages> idle_;
};

}  // namespace sumac
