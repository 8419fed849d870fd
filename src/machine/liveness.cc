// SPDX-License-Identifier: BSD-3-Clause
#include "machine/liveness.h"

#include <errno.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#include "base/hash.h"
#include "base/process_stat.h"

namespace sumac {

std::uint64_t pid_namespace() {
  char self[32] = "";
  struct stat space = {};
  if (readlink("/proc/self", self, sizeof self - 1) < 0 || std::atoi(self) != getpid()) return 0;
  if (stat("/proc/self/ns/pid", &space) != 0) return 0;
  const std::uint64_t id = hash_value(space.st_ino);
  // Kernels before 5.6 have one time for all processes.
  return stat("/proc/self/ns/time", &space) == 0 ? hash_value(space.st_ino, id) : id;
}

WatchedProcess watch(pid_t pid, const char* proc) {
  sumac_process_stat stat;
  return {pid, sumac_read_process_stat(proc, pid, &stat) ? stat.begin : 0};
}

bool is_gone(const WatchedProcess& process, const char* proc) {
  if (process.pid <= 0) return false;
  if (kill(process.pid, 0) != 0 && errno == ESRCH) return true;
  if (process.begin == 0) return false;
  sumac_process_stat now;
  if (!sumac_read_process_stat(proc, process.pid, &now)) return false;
  // The first thread of a process may end before the others do.
  const bool ended = (now.state == 'Z' && now.threads <= 1) || now.state == 'X';
  return ended || now.begin != process.begin;
}

}  // namespace sumac
