// SPDX-License-Identifier: BSD-3-Clause
// The MPI alone serves these collectives. Sumac counts their calls, so that its statistics cover
// all collectives of the program.
#pragma once

#include <cstdint>

#include "observe/stats.h"

namespace sumac {

enum class Counted : std::uint8_t {
  gather,
  gatherv,
  scatter,
  scatterv,
  scan,
  exscan,
  neighbor_allgather,
  neighbor_allgatherv,
  neighbor_alltoall,
  neighbor_alltoallv,
  neighbor_alltoallw,
};

inline constexpr const char* kCountedNames[] = {
    "gather",
    "gatherv",
    "scatter",
    "scatterv",
    "scan",
    "exscan",
    "neighbor_allgather",
    "neighbor_allgatherv",
    "neighbor_alltoall",
    "neighbor_alltoallv",
    "neighbor_alltoallw",
};
inline constexpr int kNumCounted = sizeof kCountedNames / sizeof *kCountedNames;
static_assert(kNumCounted == static_cast<int>(Counted::neighbor_alltoallw) + 1);

constexpr const char* name_of(Counted counted) { return kCountedNames[static_cast<int>(counted)]; }

// All calls of these collectives go this path.
inline constexpr const char* kCountedPath = "mpi: Sumac does not serve this collective";

// The struct is plain bytes, so that ranks can send it to one another.
struct CountedCalls {
  PathCount calls[kNumCounted];
  std::uint64_t ns[kNumCounted] = {};  // 0 if calls are not timed

  void merge(const CountedCalls& other);
};

// These functions count for the whole process. They are thread-safe.
void count_call(Counted counted, std::uint64_t bytes);
void add_time(Counted counted, std::uint64_t ns);
CountedCalls process_counted();

}  // namespace sumac
