// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/process/lone_rank.h"

#include <cstdio>
#include <string_view>

#include "interpose/mpi/mpi_functions.h"
#include "interpose/process/process.h"
#include "machine/presence.h"
#include "observe/log.h"

namespace sumac {
namespace {

bool is_spawned() {
  MpiComm parent = kMpi.comm_null;
  return mpi.Comm_get_parent(one(parent)) == kMpiSuccess && parent != kMpi.comm_null;
}

}  // namespace

bool is_lone_rank(const sumac_launch& told, int size) {
  return told.launcher && told.size > 1 && size == 1 && !is_spawned() && !started_by_rank();
}

void warn_of_lone_ranks(const sumac_launch& told, const sumac_stub& stub) {
  const bool openmpi = family() == Family::openmpi;
  const char* name = openmpi ? "Open MPI" : "MPICH";
  char fix[160];
  if (told.family && std::string_view(told.family) == (openmpi ? "openmpi" : "mpich")) {
    std::snprintf(fix, sizeof fix, "start it with the mpiexec installed with this %s", name);
  } else {
    std::snprintf(fix, sizeof fix, "start it with the mpiexec of %s: sumac run --mpi %s%s", name,
                  stub.family,
                  told.family ? ""
                  : openmpi   ? "; or srun --mpi=pmix"
                              : "; or srun --mpi=pmi2");
  }
  log(Level::warn,
      "warning[lone-ranks]: %s started %d processes, but MPI_COMM_WORLD holds this one alone\n"
      "  found: %s=%d; the program's MPI is %s (%s)\n"
      "  fix:   %s. Where each process is meant to be alone, SUMAC_DEBUG=off hides this",
      told.launcher, told.size, told.variable, told.size, stub.mpi_path, name, fix);
}

}  // namespace sumac
