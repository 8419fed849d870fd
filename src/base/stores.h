// SPDX-License-Identifier: BSD-3-Clause
// How a rank had better store what another one reads: into its cache, or past it to memory.
#pragma once

#include <cstdint>

namespace sumac {

enum class Stores : std::uint8_t { unknown, cached, streamed };

// Of the times in which the same data went either way. The usual one unless the other is clearly
// faster: an eighth is what two measurements of one way differ by.
constexpr Stores stores_of(double cached_ns, double streamed_ns) {
  if (cached_ns < 0 || streamed_ns < 0) return Stores::unknown;
  return 8 * streamed_ns < 7 * cached_ns ? Stores::streamed : Stores::cached;
}

// Of a group with two parts: past the caches where one of them stores so, since that is for ranks
// far from each other, who lose more by the other way; unknown where one of them is.
constexpr Stores both(Stores a, Stores b) {
  if (a == Stores::unknown || b == Stores::unknown) return Stores::unknown;
  return a > b ? a : b;
}

}  // namespace sumac
