// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/backend/lone_rank.h"

#include <string_view>

#include "interpose/backend/mpi_functions.h"
#include "observe/log.h"
#include "topology/presence.h"

namespace sumac {
namespace {

bool is_spawned() {
  MPI_Comm parent = MPI_COMM_NULL;
  return mpi.Comm_get_parent(&parent) == MPI_SUCCESS && parent != MPI_COMM_NULL;
}

}  // namespace

bool is_lone_rank(const sumac_launch& told, int size) {
  return told.launcher && told.size > 1 && size == 1 && !is_spawned() &&
         !started_by_rank(told.variable);
}

void warn_of_lone_ranks(const sumac_launch& told, const sumac_stub& stub) {
  const std::string_view family = stub.family;
  const char* name = family == "openmpi" ? "Open MPI" : "MPICH";
  const char* slurm =
      family == "openmpi" ? ", or with srun --mpi=pmix" : ", or with srun --mpi=pmi2";
  const bool same = told.family && family == told.family;
  log(Level::warn,
      "warning[lone-ranks]: %s started %d processes, but MPI_COMM_WORLD holds this one alone\n"
      "  found: %s=%d; the program's MPI is %s (%s)\n"
      "  fix:   start it with the mpiexec %s %s; 'sumac run' finds it%s. Where each process is "
      "meant to be alone, SUMAC_DEBUG=off hides this",
      told.launcher, told.size, told.variable, told.size, stub.mpi_path, name,
      same ? "installed with this" : "of", name, told.family ? "" : slurm);
}

}  // namespace sumac
