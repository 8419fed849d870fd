// SPDX-License-Identifier: BSD-3-Clause
// What the environment tells of the launcher that started this process, before any MPI call.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

// Rank of this process in its job, or -1 when no launcher says.
int sumac_launch_rank(void);

// MPI family of the launcher: "openmpi", "mpich" (Hydra), or NULL when neither or both left signs.
const char* sumac_launch_family(void);

// The environment variable that sumac_launch_family judged by, or NULL.
const char* sumac_launch_evidence(void);

// What a launcher told this process of its job.
struct sumac_launch {
  const char* launcher;  // "Open MPI's launcher"; NULL: none told, and the rest means nothing
  const char* family;    // of the MPI it belongs to, or NULL
  const char* variable;  // that has the size
  int size;
  int rank;
};

// Of all that told: the launcher of the MPI `family` first, then another MPI's, then Slurm. A
// launcher may run inside of a job that another one started, and what that one told is inherited.
struct sumac_launch sumac_launch_of(const char* family);

#ifdef __cplusplus
}
#endif
