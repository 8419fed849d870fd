// SPDX-License-Identifier: BSD-3-Clause
// A mark tells the other ranks of a job on this node whether Sumac serves this process. It is a
// Unix socket in the abstract name space, which the kernel lists for everyone in /proc/net/unix and
// removes with the process. It does not listen, so nobody can connect to it or send to it; its name
// says everything: "sumac-<job>-<rank>-<process>-<state>".
//
// This file is in C because the stub makes the marks of processes that no back end serves.
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SUMAC_MARK_PREFIX "sumac-"

// These are the states of a process whose program has called the MPI.
#define SUMAC_MARK_SERVED "served"
#define SUMAC_MARK_DISABLED "disabled"  // Sumac is switched off
#define SUMAC_MARK_NOT_ABLE "not-able"  // Sumac is loaded, but cannot serve the program

// This struct describes the part of a job that one launcher's daemon has started on this node.
struct sumac_job {
  uint64_t id;  // hash of the job, the daemon and the user; 0: the environment does not say
  int rank;     // number of this process, as the launcher counts
  int ranks;    // number of ranks that the daemon has started; 0: unknown
  // The numbers of those ranks, as "4,5,6"; NULL if the environment does not say. The text is part
  // of the environment and is valid until the program changes that.
  const char* numbers;
};

// Reads this process's own environment, before MPI_Init, which may change it, and under Hydra the
// names of the processes above this one. A launcher may run inside a job that another one has
// started and inherit its variables, so those of the launcher of the MPI `family` come first.
// `proc` is the path where /proc is mounted.
struct sumac_job sumac_own_job(const char* family, const char* proc);

// Makes this process's mark, for as long as the process lives. Returns 0 if that fails. Does
// nothing and returns 1 if the environment does not say which job the process belongs to.
int sumac_make_mark(const struct sumac_job* job, const char* state);

#ifdef __cplusplus
}
#endif
