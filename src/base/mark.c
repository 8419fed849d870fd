// SPDX-License-Identifier: BSD-3-Clause
#include "base/mark.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/process_stat.h"

static const char* value_of(const char* name) {
  const char* const value = getenv(name);
  return value != NULL ? value : "";
}

static int is_set(const char* name) { return *value_of(name) != '\0'; }

static int number_of(const char* name) {
  const char* const value = value_of(name);
  return *value >= '0' && *value <= '9' ? atoi(value) : -1;
}

static uint64_t hash_of_text(const char* text, uint64_t hash) {
  return sumac_hash(text, strlen(text) + 1, hash);
}

static uint64_t hash_of_values(const char* const* names, uint64_t hash) {
  for (; *names != NULL; ++names) hash = hash_of_text(value_of(*names), hash);
  return hash;
}

// Hydra puts no name of the job into the environment. Each job has a proxy of its own on each node,
// which is an ancestor of the job's processes. Returns 0 if there is none.
static uint64_t hash_of_hydra_proxy(const char* proc, uint64_t hash) {
  struct sumac_process_stat stat;
  if (!sumac_read_process_stat(proc, getpid(), &stat)) return 0;
  while (stat.parent > 1) {
    const pid_t pid = stat.parent;
    if (!sumac_read_process_stat(proc, pid, &stat)) return 0;
    if (strcmp(stat.name, "hydra_pmi_proxy") != 0) continue;
    return sumac_hash(&stat.begin, sizeof stat.begin, sumac_hash(&pid, sizeof pid, hash));
  }
  return 0;
}

static int count_of(const char* numbers) {
  int count = *numbers != '\0';
  for (; *numbers != '\0'; ++numbers) count += *numbers == ',';
  return count;
}

static struct sumac_job job_of_hydra(const char* proc, uint64_t start) {
  static const char* const values[] = {"PMI_SIZE", "PMI_SPAWNED", NULL};
  struct sumac_job job = {0, number_of("PMI_RANK"), number_of("MPI_LOCALNRANKS"), NULL};
  job.id = hash_of_hydra_proxy(proc, hash_of_values(values, start));
  return job;
}

static struct sumac_job job_of_pmix(uint64_t start) {
  static const char* const pmix[] = {"PMIX_NAMESPACE", "PMIX_SERVER_URI2", NULL};
  static const char* const orte[] = {"OMPI_MCA_ess_base_jobid", NULL};
  const int rank = number_of("OMPI_COMM_WORLD_RANK");
  struct sumac_job job = {0, rank >= 0 ? rank : number_of("PMIX_RANK"),
                          number_of("OMPI_COMM_WORLD_LOCAL_SIZE"), NULL};
  if (is_set("PMIX_NAMESPACE")) {
    job.id = hash_of_values(pmix, start);
  } else if (is_set("OMPI_MCA_ess_base_jobid")) {
    job.id = hash_of_values(orte, start);
  }
  return job;
}

static struct sumac_job job_of_slurm(uint64_t start) {
  static const char* const values[] = {"SLURM_JOB_ID", "SLURM_STEP_ID", "SLURM_NODEID", NULL};
  const struct sumac_job job = {hash_of_values(values, start), number_of("SLURM_PROCID"), 0, NULL};
  return job;
}

struct sumac_job sumac_own_job(const char* family, const char* proc) {
  const uid_t user = geteuid();
  const uint64_t start = sumac_hash(&user, sizeof user, SUMAC_HASH_START);
  const int hydra = is_set("MPI_LOCALRANKID") && is_set("PMI_RANK");
  const int pmix = is_set("PMIX_NAMESPACE") || is_set("OMPI_COMM_WORLD_RANK");
  const int openmpi = family != NULL && strcmp(family, "openmpi") == 0;
  struct sumac_job job = {0, -1, 0, NULL};
  if (pmix && (openmpi || !hydra)) {
    job = job_of_pmix(start);
  } else if (hydra) {
    job = job_of_hydra(proc, start);
  } else if (is_set("SLURM_STEP_ID")) {
    job = job_of_slurm(start);
  }
  // An mpiexec inside a job step leaves these numbers to its ranks and adds a size of its own.
  if (job.ranks < 1 && is_set("SLURM_GTIDS")) {
    job.numbers = value_of("SLURM_GTIDS");
    job.ranks = count_of(job.numbers);
  }
  if (job.ranks < 0) job.ranks = 0;
  if (job.rank < 0) job.id = 0;
  return job;
}

int sumac_make_mark(const struct sumac_job* job, const char* state) {
  if (job->id == 0) return 1;
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  char* const name = address.sun_path + 1;  // a first byte of 0 makes the name abstract
  const int length =
      snprintf(name, sizeof address.sun_path - 1, SUMAC_MARK_PREFIX "%016llx-%d-%d-%s",
               (unsigned long long)job->id, job->rank, (int)getpid(), state);
  const int mark = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (mark < 0) return 0;
  const size_t bytes = offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length;
  if (bind(mark, (const struct sockaddr*)&address, (socklen_t)bytes) == 0) return 1;
  const int error = errno;
  close(mark);
  return error == EADDRINUSE;
}
