// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/mpi/self_communicator.h"

#include <mutex>

#include "interpose/mpi/mpi_functions.h"
#include "interpose/mpi/return_errors.h"

namespace sumac {
namespace {

std::mutex mutex;
bool tried = false;
MPI_Comm self = MPI_COMM_NULL;

// The handler of MPI_COMM_SELF stays as it is: see make_inner().
MPI_Comm make() {
  int initialized = 0;
  mpi.Initialized(&initialized);
  MPI_Comm made = MPI_COMM_NULL;
  if (!initialized || mpi.Comm_split(MPI_COMM_SELF, 0, 0, &made) != MPI_SUCCESS) {
    return MPI_COMM_NULL;
  }
  return_errors(made);
  return made;
}

}  // namespace

MPI_Comm self_communicator() {
  const std::lock_guard<std::mutex> hold(mutex);
  if (!tried) self = make();
  tried = true;
  return self;
}

void end_self_communicator() {
  const std::lock_guard<std::mutex> hold(mutex);
  if (self != MPI_COMM_NULL) mpi.Comm_free(&self);
  tried = false;
}

}  // namespace sumac
