// SPDX-License-Identifier: BSD-3-Clause
#include "team/known_groups.h"

namespace sumac {

bool KnownGroups::empty() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return groups_.empty();
}

KnownGroup* KnownGroups::find(std::uint64_t identity, int ranks) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = groups_.find(identity);
  const bool is_known = found != groups_.end() && found->second.board.ranks() == ranks;
  return is_known ? &found->second : nullptr;
}

void KnownGroups::keep(std::uint64_t identity, const Board& board) {
  const std::lock_guard<std::mutex> lock(mutex_);
  groups_.emplace(identity, KnownGroup{board});
}

}  // namespace sumac
