// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/backend/gather.h"

#include <unistd.h>

#include <algorithm>
#include <memory>

#include "base/clock.h"
#include "interpose/backend/mpi_functions.h"

namespace sumac {
namespace {

std::atomic<bool> agreed{false};

constexpr std::uint64_t kMostWait = 10'000'000'000, kSpin = 1'000'000;  // ns

// False when the others have not come in time. They may yet: the request stays.
bool wait_for(MPI_Request& request) {
  const std::uint64_t begin = clock_ns();
  for (int done = 0;;) {
    mpi.Test(&request, &done, MPI_STATUS_IGNORE);
    if (done) return true;
    const std::uint64_t waited = clock_ns() - begin;
    if (waited > kMostWait) return false;
    if (waited > kSpin) usleep(100);
  }
}

}  // namespace

void agree_on_gathering(const Communicator& c, const std::vector<Hello>& hellos) {
  int size = 0;
  if (!world_is_up() || mpi.Comm_size(MPI_COMM_WORLD, &size) != MPI_SUCCESS) return;
  const bool all = c.size == size && std::all_of(hellos.begin(), hellos.end(), [](const Hello& h) {
                     return h.gathers != 0 && h.world != 0 && h.fault_tolerant == 0;
                   });
  if (all) agreed = true;
}

std::vector<RankReport> gather_reports(const RankReport& own, const char*& why) {
  int rank = 0, size = 1;
  mpi.Comm_rank(MPI_COMM_WORLD, &rank);
  mpi.Comm_size(MPI_COMM_WORLD, &size);
  if (size == 1) return {own};
  if (!agreed) {
    why = "there was no communicator of all ranks, or not all have SUMAC_STATS=all";
    return {};
  }
  // The MPI may write and read there until the end, should a rank be missing.
  auto all = std::make_unique<std::vector<RankReport>>(rank == 0 ? size : 0);
  auto sent = std::make_unique<RankReport>(own);
  constexpr int kBytes = static_cast<int>(sizeof own);
  MPI_Request request = MPI_REQUEST_NULL;
  mpi.Igather(sent.get(), kBytes, MPI_BYTE, all->data(), kBytes, MPI_BYTE, 0, MPI_COMM_WORLD,
              &request);
  if (wait_for(request)) return std::move(*all);
  why = "some have not come to MPI_Finalize";
  static_cast<void>(all.release());
  static_cast<void>(sent.release());
  return {};
}

}  // namespace sumac
