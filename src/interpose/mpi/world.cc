// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/mpi/world.h"

#include <unistd.h>

#include <atomic>

#include "interpose/mpi/family.h"
#include "interpose/mpi/mpi_functions.h"

namespace sumac {
namespace {

std::atomic<bool> world{false}, ending{false};

}  // namespace

#if defined(SUMAC_MPI_ABI)
Family family() {
  static const Family asked = [] {
    const bool is_openmpi = library_version().find("Open MPI") != std::string::npos;
    return is_openmpi ? Family::openmpi : Family::mpich;
  }();
  return asked;
}
#endif

bool world_exists() { return world.load(std::memory_order_relaxed); }

bool world_is_up() { return world_exists() && !ending.load(std::memory_order_relaxed); }

void note_world(bool exists) {
  world = exists;
  if (!exists) ending = false;
}

void note_world_ends() { ending = true; }

void end_job(MPI_Comm comm) {
  constexpr useconds_t kMoment = 200'000;
  usleep(kMoment);
  mpi.Abort(comm, 1);
}

}  // namespace sumac
