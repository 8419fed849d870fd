// SPDX-License-Identifier: BSD-3-Clause
// A rank stores data that another rank reads either into its own cache or past it to memory.
#pragma once

#include <cstdint>

namespace sumac {

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

}  // namespace sumac
