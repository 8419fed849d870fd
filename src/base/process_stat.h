// SPDX-License-Identifier: BSD-3-Clause
// The kernel shows these facts about a process to everyone, in /proc/<pid>/stat.
#pragma once

#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct sumac_process_stat {
  char name[32];
  char state;  // 'Z': it has ended, but its parent has not collected it yet
  pid_t parent;
  long threads;
  uint64_t begin;  // when it began, which tells it from earlier processes of the same number
};

// Returns 0 if the process does not exist or cannot be seen. `proc` is the path where /proc is
// mounted.
int sumac_read_process_stat(const char* proc, pid_t pid, struct sumac_process_stat* found);

#ifdef __cplusplus
}
#endif
