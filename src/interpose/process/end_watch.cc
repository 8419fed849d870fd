// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/process/end_watch.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>

#include "interpose/process/process.h"

namespace sumac {
namespace {

// This is the end of the pipe that stays in this process, and in children that it forks.
std::atomic<int> pipe_of_watcher{-1};

constexpr int kPipe = 3;  // number of the pipe's other end in the shell

// The watcher is an orphan, so that the program does not find a child that it has not made. It
// keeps nothing open but standard error and the pipe: launchers see by a rank's other descriptors
// that it has ended.
constexpr const char* kScript =
    "trap '' HUP INT TERM; { read -r told || echo \"$0\" >&2; } <&3 & exec 3<&-";

bool start_watcher(int pipe, const char* line) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, pipe, kPipe);
  posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addclosefrom_np(&actions, kPipe + 1);
  const char* words[] = {"sh", "-c", kScript, line, nullptr};
  char* no_environment[] = {nullptr};
  pid_t shell = 0;
  const int error = posix_spawn(&shell, "/bin/sh", &actions, nullptr,
                                const_cast<char* const*>(words), no_environment);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return false;
  while (waitpid(shell, nullptr, 0) < 0 && errno == EINTR) {
  }
  return true;
}

}  // namespace

void watch_end(int rank) {
  const sumac_report wanted = stats_wanted();
  int ends[2];
  if (!wanted.wanted || wanted.file || pipe2(ends, O_CLOEXEC) != 0) return;
  char line[160];
  std::snprintf(line, sizeof line,
                "sumac: no statistics: rank %d (process %d) has ended without MPI_Finalize, "
                "MPI_Abort or exit()",
                rank, static_cast<int>(getpid()));
  const bool started = start_watcher(ends[0], line);
  close(ends[0]);
  if (started) {
    pipe_of_watcher = ends[1];
  } else {
    close(ends[1]);
  }
}

void end_is_told() {
  const int pipe = pipe_of_watcher.exchange(-1);
  if (pipe < 0) return;
  // The watcher ignores the signals that would end it, so there is a reader.
  [[maybe_unused]] const ssize_t wrote = write(pipe, "\n", 1);
  close(pipe);
}

}  // namespace sumac
