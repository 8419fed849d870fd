// SPDX-License-Identifier: BSD-3-Clause
#include "machine/liveness.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace sumac {
namespace {

struct Stat {
  char state = '?';
  long threads = 0;
  std::uint64_t begin = 0;  // 0: it could not be read
};

// The fields of /proc/<pid>/stat, counted from 1. The second one, the name of the command, may have
// spaces and parentheses in it.
Stat read_stat(pid_t pid, const char* proc) {
  constexpr int kState = 3, kThreads = 20, kBegin = 22;
  char text[1024];
  const std::string path = std::string(proc) + "/" + std::to_string(pid) + "/stat";
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return {};
  const ssize_t got = read(file, text, sizeof text - 1);
  close(file);
  text[got > 0 ? got : 0] = '\0';
  Stat stat;
  const char* place = std::strrchr(text, ')');
  for (int field = kState; place && field <= kBegin; ++field) {
    place = std::strchr(place, ' ');
    if (!place) break;
    ++place;
    if (field == kState) stat.state = *place;
    if (field == kThreads) stat.threads = std::strtol(place, nullptr, 10);
    if (field == kBegin) stat.begin = std::strtoull(place, nullptr, 10);
  }
  return stat;
}

}  // namespace

std::uint64_t pid_namespace() {
  char self[32] = "";
  struct stat space = {};
  if (readlink("/proc/self", self, sizeof self - 1) < 0 || std::atoi(self) != getpid()) return 0;
  return stat("/proc/self/ns/pid", &space) == 0 ? space.st_ino : 0;
}

WatchedProcess watch(pid_t pid, const char* proc) { return {pid, read_stat(pid, proc).begin}; }

bool is_gone(const WatchedProcess& process, const char* proc) {
  if (process.pid <= 0) return false;
  if (kill(process.pid, 0) != 0 && errno == ESRCH) return true;
  if (process.begin == 0) return false;
  const Stat now = read_stat(process.pid, proc);
  if (now.begin == 0) return false;
  // The first thread of a process may end before the others do.
  const bool ended = (now.state == 'Z' && now.threads <= 1) || now.state == 'X';
  return ended || now.begin != process.begin;
}

}  // namespace sumac
