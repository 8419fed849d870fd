// SPDX-License-Identifier: BSD-3-Clause
// The neighbourhood collectives of a communicator connect these ranks.
#pragma once

#include <vector>

#include "interpose/mpi/constants.h"

namespace sumac {

// The neighbours are in the order of the blocks; MPI_PROC_NULL stands beyond the edge of a grid.
struct Neighbors {
  std::vector<int> from, to;
};

// Finds the neighbours of this rank. Returns the MPI's error, after the communicator's error
// handler was told. If the communicator has no topology, returns MPI_ERR_TOPOLOGY, which no handler
// was told.
int find_neighbors(MpiComm comm, Neighbors& neighbors);

}  // namespace sumac
