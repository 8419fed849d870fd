// SPDX-License-Identifier: BSD-3-Clause
// Which ranks of this process's job run on this node, and which of them Sumac serves. Read from
// /proc, since a rank without Sumac cannot be asked.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace sumac {

// Lets the other ranks of the job on this node see that Sumac serves this process, as long as it
// lives: maps a page of the file that `address` was loaded from (a back end) as shared. The loader
// maps libraries private, so /proc/<pid>/maps tells the two apart. This needs no name that could be
// guessed, no file and no descriptor. Returns false where the page cannot be mapped.
bool mark_as_served(const void* address);

// One rank of the job. It may have several processes: the program, what started it (sh, env), and
// what it starts.
struct JobRank {
  int rank = -1;          // as the launcher numbers it
  bool served = false;    // a process has the mark
  bool disabled = false;  // a process was started with SUMAC_DISABLE
  bool has_mpi = false;   // a process has an MPI library in it
  bool unknown = false;   // a process cannot be looked into
  pid_t pid = 0;          // of the process with an MPI, else of the first one
  std::string command;    // its command line
  bool loaded = false;    // that process has loaded libsumac.so

  // True when Sumac does not serve the rank and never will.
  bool surely_without() const { return !served && (disabled || (has_mpi && !loaded)); }
};

struct JobOnNode {
  int own = -1;                // this process's rank
  std::vector<JobRank> ranks;  // by rank; those that can be looked into

  const JobRank* find(int rank) const;
};

// Examines the job of process `self` by the processes of the same user. `own` is -1, and there are
// no ranks, where the environment does not say which job a process belongs to, or where /proc does
// not show this process's own mark. `proc`: where /proc is mounted.
JobOnNode look_at_job(const char* proc = "/proc", pid_t self = 0);

// True when a process above `self`, up to the launcher, has loaded an MPI library: a rank has
// started `self`. The launcher is recognised by `variable`, which it sets for the processes it
// starts and does not have itself.
bool started_by_rank(const char* variable, const char* proc = "/proc", pid_t self = 0);

}  // namespace sumac
