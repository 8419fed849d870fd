// SPDX-License-Identifier: BSD-3-Clause
// A copy out of another process's memory (cross-memory attach) is slower or faster than a copy
// through slots, depending on the machine. The ranks measure both; rules read the result as the
// predicate `attach`.
#pragma once

#include <cstdint>

namespace sumac {

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

}  // namespace sumac
