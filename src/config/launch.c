// SPDX-License-Identifier: BSD-3-Clause
#include "config/launch.h"

#include <stddef.h>
#include <stdlib.h>

int sumac_launch_rank(void) {
  // The launcher nearest to the process first: a job step of Slurm may hold an mpiexec.
  static const char* const names[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK",
                                      "SLURM_PROCID"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i) {
    const char* value = getenv(names[i]);
    if (value != NULL && *value >= '0' && *value <= '9') return atoi(value);
  }
  return -1;
}

static const char* first_set(const char* const* names) {
  for (; *names != NULL; ++names) {
    if (getenv(*names) != NULL) return *names;
  }
  return NULL;
}

static const char* openmpi_evidence(void) {
  // OMPI_MCA_* and OMPI_ALLOW_* are settings that users export for good: no evidence.
  static const char* const names[] = {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", NULL};
  return first_set(names);
}

static const char* hydra_evidence(void) {
  // PMI_* alone does not tell: Slurm sets it for every MPI.
  static const char* const names[] = {"MPI_LOCALNRANKS", "HYDI_CONTROL_FD", NULL};
  static const char* const pmi[] = {"PMI_RANK", NULL};
  const char* evidence = first_set(names);
  if (evidence == NULL && getenv("SLURM_PROCID") == NULL) evidence = first_set(pmi);
  return evidence;
}

const char* sumac_launch_family(void) {
  const int openmpi = openmpi_evidence() != NULL;
  const int hydra = hydra_evidence() != NULL;
  if (openmpi == hydra) return NULL;
  return openmpi ? "openmpi" : "mpich";
}

const char* sumac_launch_evidence(void) {
  if (sumac_launch_family() == NULL) return NULL;
  const char* evidence = openmpi_evidence();
  return evidence != NULL ? evidence : hydra_evidence();
}
