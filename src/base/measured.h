// SPDX-License-Identifier: BSD-3-Clause
// The ranks of a group that shares memory measure these properties when the group is set up. The
// values are equal on all of its ranks.
#pragma once

#include <cstdint>

namespace sumac {

// This header has the rows of distances.def in C++.

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

// A copy out of another process's memory (cross-memory attach) is slower or faster than a copy
// through slots, depending on the machine. The ranks measure both; rules read the result as the
// predicate `attach`.

// The values ascend, except for `unknown`: nothing was measured, or not on all ranks.
enum class Attach : std::uint8_t { unknown, fast, slow };

inline constexpr const char* kAttachNames[] = {"unknown", "fast", "slow"};
constexpr const char* name_of(Attach attach) { return kAttachNames[static_cast<int>(attach)]; }

// Chooses by the times in which the same data went either way. Copying is only a part of an
// algorithm's time, so a gain of less than an eighth does not justify another algorithm: on Granite
// Rapids, single copy took 0.7 of the time through slots, while the all-reduce of 256 KiB took 0.8
// and the broadcast 0.96.
constexpr Attach attach_of(double slots_ns, double attached_ns) {
  if (slots_ns < 0 || attached_ns < 0) return Attach::unknown;
  return 8 * attached_ns <= 7 * slots_ns ? Attach::fast : Attach::slow;
}

// Returns the value for a group with two parts: fast if both are, unknown if one of them is.
constexpr Attach slower(Attach a, Attach b) {
  if (a == Attach::unknown || b == Attach::unknown) return Attach::unknown;
  return a > b ? a : b;
}

// A rank stores data that another rank reads either into its own cache or past it to memory.

enum class Stores : std::uint8_t { unknown, cached, streamed };

// Chooses by the times in which the same data went either way. It takes the usual way unless the
// other is clearly faster: two measurements of one way differ by up to an eighth.
constexpr Stores stores_of(double cached_ns, double streamed_ns) {
  if (cached_ns < 0 || streamed_ns < 0) return Stores::unknown;
  return 8 * streamed_ns < 7 * cached_ns ? Stores::streamed : Stores::cached;
}

// Returns the way for a group with two parts. If one part stores past the caches, so does the
// group, since that part has ranks far from each other, which lose more by the wrong way. If one
// part is unknown, so is the group.
constexpr Stores both(Stores a, Stores b) {
  if (a == Stores::unknown || b == Stores::unknown) return Stores::unknown;
  return a > b ? a : b;
}

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
