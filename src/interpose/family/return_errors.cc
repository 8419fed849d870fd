// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/mpi/world.h"

#include <mpi.h>

#include "interpose/family/native.h"
#include "interpose/family/special_functions.h"
#include "interpose/mpi/mpi_functions.h"

namespace sumac {

#if defined(SUMAC_MPI_ABI)

// Intel MPI 2021.18 takes the standard's MPI_ERRORS_RETURN for MPI_ERRORS_ABORT, and the other way
// round. A handler of one's own works there, and stays until the communicator is freed. In MPICH
// 5.0 calls return MPI_SUCCESS after such a handler, whatever the error.
static bool takes_return_for_abort() {
  return library_version().find("Intel") != std::string::npos;
}

static void ignore(::MPI_Comm* /*comm*/, int* /*error*/, ...) {}

void return_errors(MpiComm comm) {
  ::MPI_Errhandler made = MPI_ERRHANDLER_NULL;
  if (!takes_return_for_abort()) {
    mpi.Comm_set_errhandler(comm, {bits_of(MPI_ERRORS_RETURN)});
  } else if (special.Comm_create_errhandler(ignore, &made) == MPI_SUCCESS) {
    MpiErrhandler handler{bits_of(made)};
    mpi.Comm_set_errhandler(comm, handler);
    mpi.Errhandler_free(one(handler));
  }
}

#else

void return_errors(MpiComm comm) { mpi.Comm_set_errhandler(comm, {bits_of(MPI_ERRORS_RETURN)}); }

#endif

}  // namespace sumac
