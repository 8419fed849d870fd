// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/process/gather.h"

#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/write_signals.h"
#include "interpose/mpi/mpi_functions.h"
#include "interpose/process/process.h"
#include "observe/log.h"

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

}  // namespace sumac
