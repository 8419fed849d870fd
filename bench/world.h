// SPDX-License-Identifier: BSD-3-Clause
// The processes of one run.
#pragma once

#include <mpi.h>

#include <string>

#include "functions.h"
#include "results.h"

namespace sumac::bench {

struct World {
  MPI_Comm comm = MPI_COMM_WORLD;    // what is measured
  MPI_Comm control = MPI_COMM_NULL;  // what the benchmark itself uses, by the MPI's own functions
  int rank = 0, ranks = 1, hosts = 1;
  Functions called, native;

  // Collective. MPI must be initialized.
  World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  // Rank 0's value, on all ranks.
  template <typename Number>
  Number from_rank_0(Number value) const {
    native.bcast(&value, sizeof value, MPI_BYTE, 0, control);
    return value;
  }
  // The sum over the ranks, on all ranks.
  long sum(long value) const;
};

// The first line of the MPI's own description of itself.
std::string library_version();

// Asked after the first MPI call.
Surroundings surroundings(const World& world);

}  // namespace sumac::bench
