// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/mpi/world.h"

#include <unistd.h>

#include <atomic>

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

}  // namespace sumac
