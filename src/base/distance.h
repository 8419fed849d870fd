// SPDX-License-Identifier: BSD-3-Clause
// The rows of distances.def in C++.
#pragma once

#include <cstdint>

namespace sumac {

// In ascending order, but for `unknown`: not measured, or not on all ranks.
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

// Of ranks between which a line takes so long there and back.
constexpr Distance distance_of(double line_ns) {
#define SUMAC_DISTANCE(name, most_ns, doc) \
  if (line_ns <= (most_ns)) return Distance::name;
#include "base/distances.def"
#undef SUMAC_DISTANCE
  return Distance::unknown;
}

// Of a group with two parts: the greater distance; unknown where one of them is.
constexpr Distance farther(Distance a, Distance b) {
  if (a == Distance::unknown || b == Distance::unknown) return Distance::unknown;
  return a > b ? a : b;
}

}  // namespace sumac
