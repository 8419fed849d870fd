// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/mpi/self_communicator.h"

#include <mutex>

#include "interpose/mpi/mpi_functions.h"
#include "interpose/mpi/return_errors.h"

namespace sumac {
namespace {

std::mutex mutex;
bool tried = false;
MpiComm self = kMpi.comm_null;

// The handler of MPI_COMM_SELF stays as it is: see make_inner().
MpiComm make() {
  int initialized = 0;
  mpi.Initialized(&initialized);
  MpiComm made = kMpi.comm_null;
  if (!initialized || mpi.Comm_split(kMpi.comm_self, 0, 0, one(made)) != kMpiSuccess) {
    return kMpi.comm_null;
  }
  return_errors(made);
  return made;
}

}  // namespace

MpiComm self_communicator() {
  const std::lock_guard<std::mutex> hold(mutex);
  if (!tried) self = make();
  tried = true;
  return self;
}

void end_self_communicator() {
  const std::lock_guard<std::mutex> hold(mutex);
  if (self != kMpi.comm_null) mpi.Comm_free(one(self));
  tried = false;
}

}  // namespace sumac
