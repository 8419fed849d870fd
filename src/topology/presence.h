// SPDX-License-Identifier: BSD-3-Clause
// Which ranks of this process's job run on this node, and which of them Sumac serves: read from
// /proc, since a rank without Sumac cannot be asked.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace sumac {

// Lets the other ranks of the job on this node see, for as long as this process lives, that Sumac
// serves it: a page of the file that `address` was loaded from (a back end) is mapped shared, where
// the loader maps libraries private, so /proc/<pid>/maps tells the two apart. No name that could be
// guessed, no file, no descriptor. False where it cannot be mapped.
bool mark_as_served(const void* address);

// One rank of the job. It may have several processes: the program, what it was started by (sh,
// env), and what it starts.
struct JobRank {
  int rank = -1;          // as the launcher numbers it
  bool served = false;    // a process has the mark
  bool disabled = false;  // a process was started with SUMAC_DISABLE
  bool has_mpi = false;   // a process has an MPI library in it
  bool unknown = false;   // a process cannot be looked into
  pid_t pid = 0;          // of the process with an MPI, else of the first one
  std::string command;    // as that was called
  bool loaded = false;    // that has libsumac.so in it

  // Without Sumac, and it will stay so.
  bool surely_without() const { return !served && (disabled || (has_mpi && !loaded)); }
};

struct JobOnNode {
  int own = -1;                // this process's rank
  std::vector<JobRank> ranks;  // by rank; those that can be looked into

  const JobRank* find(int rank) const;
};

// The job of process `self`, from processes of the same user. `own` is -1, and there are no ranks,
// where the environment does not tell which job a process belongs to, or where /proc does not even
// show the own mark. `proc`: where /proc is.
JobOnNode look_at_job(const char* proc = "/proc", pid_t self = 0);

// Whether a process above `self`, up to the launcher, has an MPI library in it: a rank has started
// `self`. The launcher is known by `variable`, which it gives to what it starts and lacks itself.
bool started_by_rank(const char* variable, const char* proc = "/proc", pid_t self = 0);

}  // namespace sumac
