// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/mpi/world.h"

#include <unistd.h>

#include <atomic>
#include <mutex>

#include "interpose/mpi/mpi_functions.h"

namespace sumac {
namespace {

std::atomic<bool> world{false}, ending{false};

}  // namespace

bool world_exists() { return world.load(std::memory_order_relaxed); }

bool world_is_up() { return world_exists() && !ending.load(std::memory_order_relaxed); }

void note_world(bool exists) {
  world = exists;
  if (!exists) ending = false;
}

void note_world_ends() { ending = true; }

void end_job(MpiComm comm) {
  constexpr useconds_t kMoment = 200'000;
  usleep(kMoment);
  mpi.Abort(comm, 1);
}

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
