// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/process/statistics.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>

#include "base/cpu.h"
#include "base/write_signals.h"
#include "interpose/mpi/mpi_functions.h"
#include "interpose/process/communicator.h"
#include "interpose/process/own_memory.h"
#include "interpose/process/process.h"
#include "observe/log.h"
#include "observe/report.h"

namespace sumac {
namespace {

std::atomic<bool> agreed{false};

constexpr std::uint64_t kMostWait = 10'000'000'000, kSpin = 1'000'000;  // ns

// Returns false if the others have not come in time. They may still come: the request stays.
bool wait_for(MpiRequest& request) {
  const std::uint64_t begin = clock_ns();
  for (int done = 0;;) {
    mpi.Test(one(request), &done, status_ignore());
    if (done) return true;
    const std::uint64_t waited = clock_ns() - begin;
    if (waited > kMostWait) return false;
    if (waited > kSpin) usleep(100);
  }
}

// Returns, on rank 0, one report for each rank, in the order of ranks. Returns none on other ranks,
// and if the reports cannot be had, with the reason in `why`.
std::vector<RankReport> gather_reports(const RankReport& own, const char*& why) {
  int rank = 0, size = 1;
  mpi.Comm_rank(kMpi.comm_world, &rank);
  mpi.Comm_size(kMpi.comm_world, &size);
  if (size == 1) return std::vector<RankReport>(1, own);
  if (!agreed) {
    why = "there was no communicator of all ranks, or not all have SUMAC_STATS=all";
    return {};
  }
  // The MPI may read and write this memory until the end of the process if a rank is missing.
  auto all = std::make_unique<std::vector<RankReport>>(rank == 0 ? size : 0);
  auto sent = std::make_unique<RankReport>(own);
  constexpr int kBytes = static_cast<int>(sizeof own);
  MpiRequest request = kMpi.request_null;
  mpi.Igather(sent.get(), kBytes, kMpi.byte, all->data(), kBytes, kMpi.byte, 0, kMpi.comm_world,
              one(request));
  if (wait_for(request)) return std::move(*all);
  why = "some have not come to MPI_Finalize";
  static_cast<void>(all.release());
  static_cast<void>(sent.release());
  return {};
}

// Writes the text in one call if the system allows it, so that lines of other processes stay
// outside.
void write_all(const std::string& text) {
  const WithoutWriteSignals without;
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t wrote = write(STDERR_FILENO, text.data() + done, text.size() - done);
    if (wrote <= 0) return;
    done += static_cast<std::size_t>(wrote);
  }
}

bool write_file(const char* path, const std::string& text) {
  const WithoutWriteSignals without;
  std::FILE* file = std::fopen(path, "we");
  if (!file) return false;
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  return std::fclose(file) == 0 && written;
}

}  // namespace

void note_agreed_reports() { agreed = true; }

void report_in_file(const RankReport& own, int size, const char* end) {
  const sumac_report wanted = stats_wanted();
  if (wanted.wanted && wanted.file) write_file(wanted.file, report_json(own, size, {}, end));
}

void report_alone(const RankReport& own, int rank, int size, const char* end) {
  const sumac_report wanted = stats_wanted();
  if (!wanted.wanted) return;
  if (!wanted.file) return write_all(rank_table(own, rank, size, end));
  if (rank == 0) report_in_file(own, size, end);
}

void report_statistics(const RankReport& own) {
  const sumac_report wanted = stats_wanted();
  if (!wanted.wanted) return;
  int rank = 0, size = 1;
  mpi.Comm_rank(kMpi.comm_world, &rank);
  mpi.Comm_size(kMpi.comm_world, &size);
  std::vector<RankReport> all;
  if (wanted.all_ranks) {
    const char* why = nullptr;
    all = gather_reports(own, why);
    if (why) log(Level::warn, "warning[stats-ranks]: rank 0's statistics alone: %s", why);
  }
  if (rank != 0) return;
  if (!wanted.file) {
    write_all(all.empty() ? rank_table(own, rank, size, kEndByFinalize) : ranks_table(all));
  } else if (!write_file(wanted.file, report_json(own, size, all, kEndByFinalize))) {
    log(Level::warn, "warning[stats-file]: cannot write %s", wanted.file);
  }
}

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

// sumac_stats() tells what MPI_Finalize would report, at any time.

extern "C" __attribute__((visibility("default"))) std::size_t sumac_backend_stats(
    char* text, std::size_t size) {
  using namespace sumac;
  const std::unique_ptr<RankReport> made(
      new RankReport{all_stats(), process_times(), process_counted(), process_learnt()});
  RankReport& own = *made;
  count_own_memory(own.stats);
  const std::string json = counts_json(own);
  if (size > 0) {
    const std::size_t shown = std::min(size - 1, json.size());
    std::memcpy(text, json.data(), shown);
    text[shown] = 0;
  }
  return json.size();
}
