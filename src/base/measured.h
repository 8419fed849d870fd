// SPDX-License-Identifier: BSD-3-Clause
// What the ranks of a group that shares memory measure when it is set up: equal on all of them.
#pragma once

#include "base/attach.h"
#include "base/distance.h"

namespace sumac {

struct Measured {
  Distance distance = Distance::unknown;  // of the farthest neighbours
  Attach attach = Attach::unknown;        // of the slowest
  bool operator==(const Measured&) const = default;
};

// Of a group with two parts.
constexpr Measured worse(const Measured& a, const Measured& b) {
  return {farther(a.distance, b.distance), slower(a.attach, b.attach)};
}

}  // namespace sumac
