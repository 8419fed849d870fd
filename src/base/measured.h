// SPDX-License-Identifier: BSD-3-Clause
// What the ranks of a group that shares memory measure when it is set up: equal on all of them.
#pragma once

#include "base/attach.h"
#include "base/distance.h"
#include "base/stores.h"

namespace sumac {

struct Measured {
  Distance distance = Distance::unknown;  // of the farthest neighbours
  Attach attach = Attach::unknown;        // of the slowest
  Stores stores = Stores::unknown;
  bool operator==(const Measured&) const = default;

  // True where stores into memory that others read go past the caches. Where that was not measured,
  // between ranks far from one another.
  bool streams() const {
    return stores == Stores::streamed || (stores == Stores::unknown && distance == Distance::far);
  }
};

// Of a group with two parts.
constexpr Measured worse(const Measured& a, const Measured& b) {
  return {farther(a.distance, b.distance), slower(a.attach, b.attach), both(a.stores, b.stores)};
}

}  // namespace sumac
