// SPDX-License-Identifier: BSD-3-Clause
// Whether another process of this machine still runs.
#pragma once

#include <sys/types.h>

#include <cstdint>

namespace sumac {

// Equal for processes to which a number and a time of begin name the same process: they share a PID
// namespace and a time namespace. 0 where /proc does not tell, or shows processes of another one.
std::uint64_t pid_namespace();

// A process that was there when watch() was called. A number is given to another process in time,
// which the time of its begin tells.
struct WatchedProcess {
  pid_t pid = 0;            // 0: this process cannot tell
  std::uint64_t begin = 0;  // as /proc/<pid>/stat has it, as this process sees it; 0: not known
};

// `pid` must be a number of this process's PID namespace. `proc`: where /proc is mounted.
WatchedProcess watch(pid_t pid, const char* proc = "/proc");

// True when the process has ended, also where its parent has not noticed yet, or another process
// has its number. False in doubt. Takes two system calls to four.
bool is_gone(const WatchedProcess& process, const char* proc = "/proc");

}  // namespace sumac
