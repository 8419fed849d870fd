// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <time.h>

#include <cstdint>

namespace sumac {

// Returns nanoseconds of a clock, by default since the machine was started.
inline std::uint64_t clock_ns(clockid_t clock = CLOCK_MONOTONIC) {
  timespec time;
  clock_gettime(clock, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(time.tv_nsec);
}

}  // namespace sumac
