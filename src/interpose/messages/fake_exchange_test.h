// SPDX-License-Identifier: BSD-3-Clause
// Tests of packed exchanges have this in the place of an MPI's collectives, between ranks that take
// turns in one thread.
#pragma once

#include <vector>

#include "interpose/mpi/call.h"
#include "interpose/mpi/neighbors.h"

namespace sumac {

struct AroundExchange {
  int ranks = 0;
  bool fails = false;                // the next exchanges fail on all ranks
  std::vector<Neighbors> neighbors;  // one entry for each rank
  int packed = 0;                    // sides with packed bytes that the MPI was given
};
inline AroundExchange around_exchange;

// Forgets all exchanges, and puts the functions into the table.
void begin_exchanges(unsigned seed, int ranks);

// This is the MPI's function for MPI_Alltoall and MPI_Alltoallw, blocking and nonblocking.
int exchange_below(const Call& call);

}  // namespace sumac
