// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/mpi/return_errors.h"

#include "interpose/mpi/mpi_functions.h"

namespace sumac {

#if defined(SUMAC_MPI_ABI)

// Intel MPI 2021.18 takes the standard's MPI_ERRORS_RETURN for MPI_ERRORS_ABORT, and the other way
// round. There a handler of one's own is right, which stays until the communicator is freed. In
// MPICH 5.0 calls return MPI_SUCCESS after such a handler, whatever the error.
static bool takes_return_for_abort() {
  return library_version().find("Intel") != std::string::npos;
}

static void ignore(MPI_Comm* /*comm*/, int* /*error*/, ...) {}

void return_errors(MPI_Comm comm) {
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  if (!takes_return_for_abort()) {
    mpi.Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  } else if (mpi.Comm_create_errhandler(ignore, &handler) == MPI_SUCCESS) {
    mpi.Comm_set_errhandler(comm, handler);
    mpi.Errhandler_free(&handler);
  }
}

#else

void return_errors(MPI_Comm comm) { mpi.Comm_set_errhandler(comm, MPI_ERRORS_RETURN); }

#endif

}  // namespace sumac
