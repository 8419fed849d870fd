// SPDX-License-Identifier: BSD-3-Clause
// The completion calls for Sumac's requests and the MPI's, for functions that stand before them.
#pragma once

#include <mpi.h>

namespace sumac {

struct CompletionCalls {
  int (*wait)(MPI_Request*, MPI_Status*);
  int (*waitall)(int, MPI_Request*, MPI_Status*);
  int (*waitany)(int, MPI_Request*, int*, MPI_Status*);
  int (*waitsome)(int, MPI_Request*, int*, int*, MPI_Status*);
  int (*test)(MPI_Request*, int*, MPI_Status*);
  int (*testall)(int, MPI_Request*, int*, MPI_Status*);
  int (*testany)(int, MPI_Request*, int*, int*, MPI_Status*);
  int (*testsome)(int, MPI_Request*, int*, int*, MPI_Status*);
  int (*get_status)(MPI_Request, int*, MPI_Status*);
  // Not to be called where the MPI lacks these.
  int (*get_status_all)(int, const MPI_Request*, int*, MPI_Status*);
  int (*get_status_any)(int, const MPI_Request*, int*, int*, MPI_Status*);
  int (*get_status_some)(int, const MPI_Request*, int*, int*, MPI_Status*);
  int (*request_free)(MPI_Request*);
};
extern const CompletionCalls completion;

}  // namespace sumac
