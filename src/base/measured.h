// SPDX-License-Identifier: BSD-3-Clause
// The ranks of a group that shares memory measure these properties when the group is set up. The
// values are equal on all of its ranks.
#pragma once

#include "base/attach.h"
#include "base/distance.h"
#include "base/stores.h"

namespace sumac {

struct Measured {
  Distance distance = Distance::unknown;  // between the neighbours farthest apart
  Attach attach = Attach::unknown;        // for the slowest rank
  Stores stores = Stores::unknown;
  bool operator==(const Measured&) const = default;

  // Returns true if a rank should write data that others read past the caches. If nobody has
  // measured that, it should between ranks far from one another.
  bool streams() const {
    return stores == Stores::streamed || (stores == Stores::unknown && distance == Distance::far);
  }
};

// Returns the values for a group with two parts.
constexpr Measured worse(const Measured& a, const Measured& b) {
  return {farther(a.distance, b.distance), slower(a.attach, b.attach), both(a.stores, b.stores)};
}

}  // namespace sumac
