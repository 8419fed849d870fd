// SPDX-License-Identifier: BSD-3-Clause
// Whom the neighbourhood collectives of a communicator connect.
#pragma once

#include <vector>

#include "interpose/mpi/constants.h"

namespace sumac {

// In the order of the blocks; MPI_PROC_NULL beyond the edge of a grid.
struct Neighbors {
  std::vector<int> from, to;
};

// Of this rank. Returns the MPI's error, of which the communicator's error handler has been told;
// MPI_ERR_TOPOLOGY, of which nobody has, where it has no topology.
int find_neighbors(MpiComm comm, Neighbors& neighbors);

}  // namespace sumac
