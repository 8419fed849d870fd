// SPDX-License-Identifier: BSD-3-Clause
#include "team/lost_rank.h"

#include <unistd.h>

#include <string>

#include "observe/log.h"

namespace sumac {

std::vector<WatchedRank> watch_ranks(const std::vector<Hello>& hellos, int rank) {
  std::vector<WatchedRank> watched(hellos.size());
  const Hello& own = hellos[static_cast<std::size_t>(rank)];
  if (own.pid_namespace == 0) return watched;
  for (std::size_t r = 0; r < hellos.size(); ++r) {
    const Hello& hello = hellos[r];
    const bool seen = hello.machine == own.machine && hello.place.node == own.place.node &&
                      hello.pid_namespace == own.pid_namespace && hello.pid != own.pid;
    if (seen) watched[r] = {{hello.pid, hello.begin}, hello.job_rank};
  }
  return watched;
}

bool is_lost(const Team& team, int rank) {
  return !team.watched.empty() && is_gone(team.watched[static_cast<std::size_t>(rank)].process);
}

void end_for_lost_rank(const Team& team, int rank) {
  const WatchedRank& lost = team.watched[static_cast<std::size_t>(rank)];
  const std::string in_job =
      lost.job_rank < 0 ? "" : "rank " + std::to_string(lost.job_rank) + " of the job, ";
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  // With levels there is no group, and every rank that finds out says so.
  if (team.group.is_first_to_tell()) {
    log_here(
        "error[rank-lost]: rank %d of %d in %s on %s needs rank %d (%sprocess %d on %s), whose "
        "process is gone; ending the job",
        team.rank, team.size, team.doing, team.oob.name().c_str(), rank, in_job.c_str(),
        static_cast<int>(lost.process.pid), host);
  }
  team.oob.end_job();
}

}  // namespace sumac
