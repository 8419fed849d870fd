// SPDX-License-Identifier: BSD-3-Clause
// This measures how the clocks of several hosts differ.
#pragma once

#include <cstdint>

#include "interpose/mpi/constants.h"

namespace sumac {

struct ClockOffset {
  std::uint64_t at = 0;      // time of the measurement by this rank's CLOCK_MONOTONIC, ns
  std::int64_t offset = 0;   // added to this rank's clock, it gives rank 0's
  std::uint64_t within = 0;  // the offset's error is at most this
};

// Collective over the communicator. Ranks of rank 0's host share its clock. On each other host the
// lowest rank sends messages to and fro: half of the shortest way there and back bounds the error.
// The other ranks of a host are given none (`within` is UINT64_MAX), because the lowest rank's is
// theirs.
ClockOffset measure_clock_offset(MpiComm comm);

}  // namespace sumac
