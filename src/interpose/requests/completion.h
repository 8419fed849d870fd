// SPDX-License-Identifier: BSD-3-Clause
// The calls about requests, in layers: those for Sumac's requests and the MPI's, before them those
// that tell or do more, and the outermost ones are the program's.
#pragma once

#include <mpi.h>

#include "interpose/stub/stub.h"

namespace sumac {

struct RequestCalls {
  int (*start)(MPI_Request*);
  int (*startall)(int, MPI_Request*);
  int (*wait)(MPI_Request*, MPI_Status*);
  int (*waitall)(int, MPI_Request*, MPI_Status*);
  int (*waitany)(int, MPI_Request*, int*, MPI_Status*);
  int (*waitsome)(int, MPI_Request*, int*, int*, MPI_Status*);
  int (*test)(MPI_Request*, int*, MPI_Status*);
  int (*testall)(int, MPI_Request*, int*, MPI_Status*);
  int (*testany)(int, MPI_Request*, int*, int*, MPI_Status*);
  int (*testsome)(int, MPI_Request*, int*, int*, MPI_Status*);
  int (*get_status)(MPI_Request, int*, MPI_Status*);
  // MPI 4.1's; not to be called, nor given to the stub, where the MPI lacks them.
  int (*get_status_all)(int, const MPI_Request*, int*, MPI_Status*);
  int (*get_status_any)(int, const MPI_Request*, int*, int*, MPI_Status*);
  int (*get_status_some)(int, const MPI_Request*, int*, int*, MPI_Status*);
  int (*request_free)(MPI_Request*);
  int (*cancel)(MPI_Request*);
};

// The innermost layer.
RequestCalls request_calls(const sumac_stub& stub);

// Gives the stub these functions.
void redirect_requests(const sumac_stub& stub, const RequestCalls& calls);

}  // namespace sumac
