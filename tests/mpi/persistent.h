// SPDX-License-Identifier: BSD-3-Clause
// Persistent collectives are part of MPI-4. The header of an older MPI does not declare them, so
// the functions that Sumac exports are looked up by name.
#pragma once

#include "check.h"

namespace test {

struct Inits {
  int (*Allreduce)(const void*, void*, int, MPI_Datatype, MPI_Op, MPI_Comm, MPI_Info, MPI_Request*);
  int (*Reduce)(const void*, void*, int, MPI_Datatype, MPI_Op, int, MPI_Comm, MPI_Info,
                MPI_Request*);
  int (*Bcast)(void*, int, MPI_Datatype, int, MPI_Comm, MPI_Info, MPI_Request*);
  int (*Barrier)(MPI_Comm, MPI_Info, MPI_Request*);
  int (*Bcast_c)(void*, MPI_Count, MPI_Datatype, int, MPI_Comm, MPI_Info, MPI_Request*);
};

inline const Inits& inits() {
  static const Inits functions{in_sumac<decltype(Inits::Allreduce)>("MPI_Allreduce_init"),
                               in_sumac<decltype(Inits::Reduce)>("MPI_Reduce_init"),
                               in_sumac<decltype(Inits::Bcast)>("MPI_Bcast_init"),
                               in_sumac<decltype(Inits::Barrier)>("MPI_Barrier_init"),
                               in_sumac<decltype(Inits::Bcast_c)>("MPI_Bcast_init_c")};
  return functions;
}

// False where persistent collectives are missing. The test then counts as skipped, or as failed
// with --require-taken.
inline bool has_persistent() {
  MPI_Request request = MPI_REQUEST_NULL;
  if (inits().Barrier && inits().Barrier(MPI_COMM_WORLD, MPI_INFO_NULL, &request) == MPI_SUCCESS) {
    MPI_Request_free(&request);
    return true;
  }
  if (!CHECK(!require_taken, "no persistent collectives")) return false;
  skip("this MPI has no persistent collectives");
  return false;
}

}  // namespace test
