// SPDX-License-Identifier: BSD-3-Clause
// What the kernel shows to everyone of a process, in /proc/<pid>/stat.
#pragma once

#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct sumac_process_stat {
  char name[32];
  char state;  // 'Z': it has ended, and its parent has not noticed yet
  pid_t parent;
  long threads;
  uint64_t begin;  // when it began, which tells it from others that have had its number
};

// Returns 0 where the process does not exist or cannot be seen. `proc`: where /proc is mounted.
int sumac_read_process_stat(const char* proc, pid_t pid, struct sumac_process_stat* found);

#ifdef __cplusplus
}
#endif
