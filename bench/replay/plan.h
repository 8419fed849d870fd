// SPDX-License-Identifier: BSD-3-Clause
// What the ranks can make again together: which communicators of their records are the same one, up
// to which event every rank's calls have their counterparts on the others, and whether they match.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <vector>

#include "record.h"

namespace sumac::replay {

struct Plan {
  std::size_t events = 0;       // of this rank, from the first, that are made again
  std::size_t left_out = 0;     // calls of these on communicators that cannot be made
  std::size_t cut = 0;          // calls that have no counterpart
  std::vector<MPI_Comm> comms;  // by their numbers in this rank's record; null for those left out
};

// Collective over `world`. At most `most` events of each rank. Throws Failure, on all ranks, where
// the calls of ranks do not match.
Plan make_plan(const Record& record, std::size_t most, MPI_Comm world);
void free_communicators(Plan& plan);

}  // namespace sumac::replay
