// SPDX-License-Identifier: BSD-3-Clause
// These obstacles keep ranks of one machine from each other's memory, so that Sumac is slower there
// than it could be. The statistics count the communicators that were set up so; the log says it
// once.
#pragma once

#include <cstdint>

#include "base/use_text.h"

namespace sumac {

enum class Obstacle : std::uint8_t { attach_off, attach_refused, containers };
inline constexpr int kNumObstacles = 3;

inline constexpr UseText kObstacleTexts[kNumObstacles] = {
    {"attach_off", "SUMAC_CMA=off: large messages are copied twice, through shared memory"},
    {"attach_refused",
     "the system refuses cross-memory attach: large messages are copied twice (sumac check)"},
    {"containers",
     "ranks of this machine do not share PID namespace and /dev/shm: the MPI's messages between "
     "them"},
};

}  // namespace sumac
