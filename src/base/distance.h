// SPDX-License-Identifier: BSD-3-Clause
// This header has the rows of distances.def in C++.
#pragma once

#include <cstdint>

namespace sumac {

// The values ascend, except for `unknown`: nothing was measured, or not on all ranks.
enum class Distance : std::uint8_t {
  unknown,
#define SUMAC_DISTANCE(name, most_ns, doc) name,
#include "base/distances.def"
#undef SUMAC_DISTANCE
};

inline constexpr const char* kDistanceNames[] = {
    "unknown",
#define SUMAC_DISTANCE(name, most_ns, doc) #name,
#include "base/distances.def"
#undef SUMAC_DISTANCE
};
constexpr const char* name_of(Distance distance) {
  return kDistanceNames[static_cast<int>(distance)];
}

// Returns the distance of ranks between which a line takes so long to go there and back.
constexpr Distance distance_of(double line_ns) {
#define SUMAC_DISTANCE(name, most_ns, doc) \
  if (line_ns <= (most_ns)) return Distance::name;
#include "base/distances.def"
#undef SUMAC_DISTANCE
  return Distance::unknown;
}

// Returns the distance of a group with two parts: the greater one, or unknown if one of them is.
constexpr Distance farther(Distance a, Distance b) {
  if (a == Distance::unknown || b == Distance::unknown) return Distance::unknown;
  return a > b ? a : b;
}

}  // namespace sumac
