// SPDX-License-Identifier: BSD-3-Clause
// The processes of one run.
#pragma once

#include <mpi.h>

#include <memory>
#include <string>

#include "functions.h"
#include "line.h"
#include "results.h"

namespace sumac::bench {

struct World {
  MPI_Comm comm = MPI_COMM_WORLD;    // the calls that are measured
  MPI_Comm control = MPI_COMM_NULL;  // the benchmark's own messages, by the MPI's own functions
  int rank = 0, ranks = 1, hosts = 1;
  Functions called, native;
  std::unique_ptr<Line> line;

  // Collective. MPI must be initialised.
  World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  // Returns rank 0's value on all ranks.
  template <typename Number>
  Number from_rank_0(Number value) const {
    native.bcast(&value, sizeof value, MPI_BYTE, 0, control);
    return value;
  }
  // Returns the sum over all ranks on all ranks.
  long sum(long value) const;
  // Collective. The longest time of a line on any host, on rank 0; see line.h.
  double line_ns() const;
};

// The first line of MPI_Get_library_version.
std::string library_version();

// Must be called after the first MPI call.
Surroundings surroundings(const World& world);

}  // namespace sumac::bench
