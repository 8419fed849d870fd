// SPDX-License-Identifier: BSD-3-Clause
// What the environment says about the launcher that started this process, before any MPI call.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

// Rank of this process in its job, or -1 when no launcher has set it.
int sumac_launch_rank(void);

// Ranks of the job on this node, or 0 when no launcher has said.
int sumac_launch_ranks_on_node(void);

// MPI family of the launcher: "openmpi", "mpich" (Hydra), or NULL when neither or both left signs.
const char* sumac_launch_family(void);

// The environment variable on which sumac_launch_family decided, or NULL.
const char* sumac_launch_evidence(void);

// What a launcher told this process about its job.
struct sumac_launch {
  const char* launcher;  // "Open MPI's launcher"; NULL: no launcher, other fields unset
  const char* family;    // MPI family of the launcher, or NULL
  const char* variable;  // variable that holds the size
  int size;
  int rank;
};

// Chooses among the launchers found: first that of the MPI `family`, then another MPI's, then
// Slurm. A launcher may run inside a job that another one started and inherit its variables.
struct sumac_launch sumac_launch_of(const char* family);

#ifdef __cplusplus
}
#endif
