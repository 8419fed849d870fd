// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/backend/hang_doctor.h"

#include <errno.h>
#include <signal.h>

#include <string>

#include "interpose/backend/communicator.h"
#include "interpose/backend/mpi_functions.h"
#include "observe/log.h"

namespace sumac {
namespace {

// Calls visit(rank) for every rank the strand still waits for.
template <class Visit>
void for_each_missing(const Communicator& c, Visit visit) {
  const Wait& wait = c.strand.waiting_for();
  const auto* counter = reinterpret_cast<const std::byte*>(wait.first_missing());
  for (int i = 0; i < wait.remaining(); ++i, counter += wait.stride()) {
    const auto* flag = reinterpret_cast<const Counter*>(counter);
    const int owner = c.group.owner_of(flag);
    if (owner >= 0 && !reached(*flag, wait.target())) visit(owner);
  }
}

bool is_gone(pid_t pid) { return kill(pid, 0) != 0 && errno == ESRCH; }

}  // namespace

void drive_mpi(void* context) {
  const auto& c = *static_cast<const Communicator*>(context);
  int flag = 0;
  mpi.Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, c.comm, &flag, MPI_STATUS_IGNORE);
}

void report_late(void* context, double seconds) {
  const auto& c = *static_cast<const Communicator*>(context);
  std::string missing;
  for_each_missing(c, [&](int rank) {
    if (missing.size() < 200) missing += (missing.empty() ? "" : ", ") + std::to_string(rank);
  });
  // Process numbers mean something only where all ranks can see each other's, which attach proves.
  for_each_missing(c, [&](int rank) {
    if (!c.attach || !is_gone(c.pids[static_cast<std::size_t>(rank)])) return;
    log_here(
        "error[rank-lost]: rank %d waited %.0f s in %s for rank %d, whose process is gone; "
        "ending the job",
        c.rank, seconds, c.doing, rank);
    mpi.Abort(c.comm, 1);
  });
  const auto limit = static_cast<double>(options.hang_seconds);
  if (limit > 0 && seconds >= limit && seconds < limit + 1) {
    log_here("warning[hang]: rank %d of %d has waited %.0f s in %s; not arrived: rank %s", c.rank,
             c.size, seconds, c.doing, missing.c_str());
  }
}

}  // namespace sumac
