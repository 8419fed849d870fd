// SPDX-License-Identifier: BSD-3-Clause
// The environment tells which launcher started this process, before any MPI call. These functions
// read it.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

// Returns the rank of this process in its job, or -1 if no launcher has set it.
int sumac_launch_rank(void);

// Returns the number of ranks that the job has on this node, or 0 if no launcher has said.
int sumac_launch_ranks_on_node(void);

// Returns the MPI family of the launcher, "openmpi" or "mpich" (Hydra), or NULL if neither or both
// left signs.
const char* sumac_launch_family(void);

// Returns the name of the environment variable on which sumac_launch_family decided, or NULL.
const char* sumac_launch_evidence(void);

// A launcher has told this process the following about its job.
struct sumac_launch {
  const char* launcher;  // such as "Open MPI's launcher"; NULL: no launcher, other fields unset
  const char* family;    // MPI family of the launcher, or NULL
  const char* variable;  // variable that holds the size
  int size;
  int rank;
};

// Chooses among the launchers found. The launcher of the MPI `family` comes first, then that of
// another MPI, then Slurm. A launcher may run inside a job that another one started and inherit its
// variables.
struct sumac_launch sumac_launch_of(const char* family);

#ifdef __cplusplus
}
#endif
