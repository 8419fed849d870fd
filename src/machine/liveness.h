// SPDX-License-Identifier: BSD-3-Clause
// These functions tell whether another process of this machine still runs.
#pragma once

#include <sys/types.h>

#include <cstdint>

namespace sumac {

// Returns a number that is equal for processes to which a process number and a start time name the
// same process: they share a PID namespace and a time namespace. Returns 0 if /proc does not tell,
// or shows the processes of another namespace.
std::uint64_t pid_namespace();

// A process that existed when watch() was called. Its number is given to another process in time;
// the start time tells the two apart.
struct WatchedProcess {
  pid_t pid = 0;            // 0: this process cannot tell
  std::uint64_t begin = 0;  // start time, as this process sees it in /proc/<pid>/stat; 0: not known
};

// `pid` must be a number of this process's PID namespace. `proc` is the path where /proc is
// mounted.
WatchedProcess watch(pid_t pid, const char* proc = "/proc");

// Returns true if the process has ended, even if its parent has not collected it yet, or if another
// process has its number. Returns false in doubt. Takes two to four system calls.
bool is_gone(const WatchedProcess& process, const char* proc = "/proc");

}  // namespace sumac
