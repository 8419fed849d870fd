// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/backend/meeting.h"

#include <string>

#include "interpose/backend/build.h"
#include "interpose/backend/hang_doctor.h"
#include "interpose/backend/members.h"
#include "interpose/backend/mpi_functions.h"
#include "interpose/backend/process.h"
#include "observe/log.h"

namespace sumac {
namespace {

struct Meeting {
  Communicator& c;
  const bool all_entered;
  std::uint64_t seconds = 0;  // while this process ran: a job may be suspended
};

void drive(void* context) { drive_mpi(&static_cast<Meeting*>(context)->c); }

// Called once a second.
void report_missing(void* context, double) {
  auto& meeting = *static_cast<Meeting*>(context);
  const Communicator& c = meeting.c;
  if (++meeting.seconds != options.hang_seconds || !speaks_for_node(c)) return;
  const std::string unseen = not_seen(c);
  if (unseen.empty()) {
    log_here(
        "warning[set-up]: rank %d of %d has waited %llu s for others to set the communicator up",
        c.rank, c.size, static_cast<unsigned long long>(meeting.seconds));
    return;
  }
  log_here(
      "%s[set-up]: rank %d of %d has waited %llu s for others to set the communicator up. A rank "
      "without Sumac never will%s; these have not been seen to have it: %s. Start every program of "
      "the job with 'sumac exec', on every host",
      meeting.all_entered ? "error" : "warning", c.rank, c.size,
      static_cast<unsigned long long>(meeting.seconds),
      meeting.all_entered ? ", and all are in the call, so the job is ended" : "", unseen.c_str());
  if (meeting.all_entered) end_job(c.comm);
}

}  // namespace

bool meet(Communicator& c, bool all_entered) {
  const std::uint64_t own[2] = {build_hash(), ~build_hash()};
  std::uint64_t least[2] = {};
  Meeting meeting{c, all_entered};
  WaitPolicy policy;
  policy.spins = spins_of_process();
  policy.drive = drive;
  policy.late = report_missing;
  policy.context = &meeting;
  MPI_Request request = MPI_REQUEST_NULL;
  mpi.Iallreduce(own, least, 2, MPI_UINT64_T, MPI_MIN, c.comm, &request);
  Waiting waiting(policy);
  for (int done = 0;;) {
    mpi.Test(&request, &done, MPI_STATUS_IGNORE);
    if (done) break;
    waiting.step(false);
  }
  return least[0] == own[0] && least[1] == own[1];
}

}  // namespace sumac
