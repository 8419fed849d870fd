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

#ifdef __cplusplus
}
#endif
