// SPDX-License-Identifier: BSD-3-Clause
#include "team/ends_job.h"

#include <unistd.h>

#include <atomic>
#include <cstdlib>

#include "observe/log.h"
#include "team/hang_doctor.h"
#include "team/lost_rank.h"

namespace sumac {

void EndsJob::refused() {
  // Of several threads the first ends the process; nothing else they do may be seen either.
  static std::atomic<bool> ending{false};
  if (ending.exchange(true)) {
    while (true) ::pause();
  }
  tell_and_end();
  std::_Exit(EXIT_FAILURE);  // an MPI that another thread is ending returns at once
}

void EndsJob::tell_and_end() const {
  const int lost = find_lost_soon(team_);
  if (lost >= 0) return end_for_lost_rank(team_, lost);
  // A slot may hold an address that another call has left there.
  if (end_if_calls_differ(team_)) return;
  log_here(
      "error[peer-memory]: rank %d could not reach a peer's memory in %s; ending the job "
      "(SUMAC_PROMOTE=off does without; or other ranks called something else)",
      team_.rank, team_.doing);
  team_.oob.end_job();
}

}  // namespace sumac
