// SPDX-License-Identifier: BSD-3-Clause
#include "transport/shm/hand_over.h"

namespace sumac {

// The way in use stays unless the other is clearly cheaper: two measurements of one way differ by
// up to an eighth.
void HandOver::decide(std::uint64_t period, const std::array<std::uint64_t, kWays>& read) {
  std::uint64_t cost[kWays];
  for (std::size_t way = 0; way < kWays; ++way) {
    const std::uint64_t stored = stored_[way].of(period);
    if (stored == 0 || read[way] == 0) return;
    cost[way] = stored + read[way];
  }
  const auto used = static_cast<std::size_t>(chosen_);
  const std::size_t other = 1 - used;
  if (8 * cost[other] < 7 * cost[used]) chosen_ = static_cast<Way>(other);
}

}  // namespace sumac
