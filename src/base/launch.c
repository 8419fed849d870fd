// SPDX-License-Identifier: BSD-3-Clause
#include "base/launch.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static int number_of(const char* name) {
  const char* value = getenv(name);
  return value != NULL && *value >= '0' && *value <= '9' ? atoi(value) : -1;
}

static int first_number(const char* const* names) {
  for (; *names != NULL; ++names) {
    const int number = number_of(*names);
    if (number >= 0) return number;
  }
  return -1;
}

// The launcher nearest to the process comes first: a job step of Slurm may run an mpiexec.
int sumac_launch_rank(void) {
  static const char* const names[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK",
                                      "SLURM_PROCID", NULL};
  return first_number(names);
}

int sumac_launch_ranks_on_node(void) {
  static const char* const names[] = {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS",
                                      "PMIX_LOCAL_SIZE", "SLURM_NTASKS_PER_NODE", NULL};
  const int ranks = first_number(names);
  return ranks > 0 ? ranks : 0;
}

static const char* first_set(const char* const* names) {
  for (; *names != NULL; ++names) {
    if (getenv(*names) != NULL) return *names;
  }
  return NULL;
}

static const char* openmpi_evidence(void) {
  // OMPI_MCA_* and OMPI_ALLOW_* are no evidence, since users export these settings for good.
  static const char* const names[] = {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", NULL};
  return first_set(names);
}

static const char* hydra_evidence(void) {
  // PMI_* alone is no evidence: Slurm sets it for every MPI.
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

struct sumac_launch sumac_launch_of(const char* family) {
  // SLURM_NTASKS belongs to the allocation, so a program that a job script starts by itself has it,
  // too.
  static const struct {
    const char *launcher, *family, *size, *rank;
    const char* (*evidence)(void);
  } rows[] = {
      {"Open MPI's launcher", "openmpi", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK",
       openmpi_evidence},
      {"MPICH's launcher", "mpich", "PMI_SIZE", "PMI_RANK", hydra_evidence},
      {"srun", NULL, "SLURM_STEP_NUM_TASKS", "SLURM_PROCID", NULL},
  };
  struct sumac_launch found = {NULL, NULL, NULL, 0, -1};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
    const int own = rows[i].family != NULL && strcmp(rows[i].family, family) == 0;
    const int size = number_of(rows[i].size);
    if (size < 0 || (found.launcher != NULL && !own)) continue;
    if (rows[i].evidence != NULL && rows[i].evidence() == NULL) continue;
    found = (struct sumac_launch){rows[i].launcher, rows[i].family, rows[i].size, size,
                                  number_of(rows[i].rank)};
  }
  return found;
}
