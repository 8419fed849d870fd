// SPDX-License-Identifier: BSD-3-Clause
// What a copy out of another process's memory (cross-memory attach) costs beside one through slots.
// Read by rules (`attach`).
#pragma once

#include <cstdint>

namespace sumac {

// In ascending order, but for `unknown`: not measured, or not on all ranks.
enum class Attach : std::uint8_t { unknown, fast, slow };

inline constexpr const char* kAttachNames[] = {"unknown", "fast", "slow"};
constexpr const char* name_of(Attach attach) { return kAttachNames[static_cast<int>(attach)]; }

// Of the times in which the same data went either way. An algorithm does more than copy, so that an
// eighth is not worth another one: where single copy took 0.7 of the time through slots, all-reduce
// of 256 KiB took 0.8 of it and broadcast 0.96 (Granite Rapids).
constexpr Attach attach_of(double slots_ns, double attached_ns) {
  if (slots_ns < 0 || attached_ns < 0) return Attach::unknown;
  return 8 * attached_ns <= 7 * slots_ns ? Attach::fast : Attach::slow;
}

// Of a group with two parts: fast where both are, unknown where one of them is.
constexpr Attach slower(Attach a, Attach b) {
  if (a == Attach::unknown || b == Attach::unknown) return Attach::unknown;
  return a > b ? a : b;
}

}  // namespace sumac
