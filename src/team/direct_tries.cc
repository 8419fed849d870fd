// SPDX-License-Identifier: BSD-3-Clause
#include "team/direct_tries.h"

#include <algorithm>
#include <bit>

namespace sumac {

Algorithm DirectTries::choose(Collective collective, std::size_t bytes, Algorithm otherwise) const {
  const Algorithm algorithm = choices_.choose(collective, bytes).algorithm;
  if (algorithm == Algorithm::native || otherwise == Algorithm::native) return Algorithm::native;
  return info_of(algorithm).needs == Needs::maps ? algorithm : Algorithm::native;
}

bool DirectTries::is_due(Collective collective, std::size_t bytes) {
  Class& its = of(collective, bytes);
  if (its.left == 0) return true;
  --its.left;
  return false;
}

void DirectTries::note(Collective collective, std::size_t bytes, bool went) {
  Class& its = of(collective, bytes);
  its.skipped = went ? 0 : static_cast<std::uint8_t>(std::clamp(2 * its.skipped, 1, kMostSkipped));
  its.left = its.skipped;
}

DirectTries::Class& DirectTries::of(Collective collective, std::size_t bytes) {
  const int power = std::min(static_cast<int>(std::bit_width(bytes)), kClasses - 1);
  return classes_[static_cast<int>(collective)][power];
}

}  // namespace sumac
