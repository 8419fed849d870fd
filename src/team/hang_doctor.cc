// SPDX-License-Identifier: BSD-3-Clause
#include "team/hang_doctor.h"

#include <errno.h>
#include <signal.h>

#include <algorithm>
#include <cstdio>

#include "observe/log.h"
#include "progress/announced.h"

namespace sumac {
namespace {

// Calls visit(rank, in_group) for every rank that is still waited for; `in_group`: in the slots of
// the team's one group. Another thread may be using the queue.
template <class Visit>
void for_each_missing(Team& team, Visit visit) {
  const auto of_work = [&](const Work& work) {
    work.strand().waiting_for().for_each_missing([&](const Counter& counter) {
      int owner = team.group.owner_of(&counter);
      const bool in_group = owner >= 0;
      for (const auto& own : team.own_ranks) owner = std::max(owner, own->group.owner_of(&counter));
      if (owner >= 0) visit(owner, in_group);
    });
  };
  team.queue.hold([&](const Work* begun) {
    of_work(team.work);
    for (; begun; begun = begun->next) {
      if (begun != &team.work) of_work(*begun);
    }
    const auto visit_other = [&](int rank) { visit(rank, false); };
    std::vector<int> peers;
    for (const auto& levels : team.levels) {
      levels->for_each_missing(visit_other);
      const Messages* messages = levels->messages();
      if (messages) messages->add_peers(peers);
    }
    for (const auto& own : team.own_ranks) {
      if (own->levels) own->levels->for_each_missing(visit_other);
    }
    for (const int peer : peers) visit_other(peer);
  });
}

// Ranks whose calls differ would wait for each other for ever.
void end_if_calls_differ(Team& team) {
  // A rank publishes what it announces before it publishes that it is through, so these are read in
  // the opposite order. For persistent operations, on slots of their own, the group's positions
  // tell nothing.
  std::uint64_t number = 0;
  for (int r = 0; r < team.size; ++r) {
    if (r != team.rank && team.group.differs(r, number)) {
      return end_for_different_calls(team, r, number);
    }
  }
  std::vector<bool> through;
  for (int r = 0; r < team.size; ++r) through.push_back(team.group.is_through(r));
  for_each_missing(team, [&](int rank, bool in_group) {
    if (in_group && through[static_cast<std::size_t>(rank)]) end_for_different_calls(team, rank, 0);
  });
}

bool is_gone(pid_t pid) { return kill(pid, 0) != 0 && errno == ESRCH; }

}  // namespace

void end_for_different_calls(const Team& team, int rank, std::uint64_t number) {
  const auto called = [&](int of) {
    Announcement call;
    return team.group.announced(of, number, call) ? text_of(call) : "nothing that is known";
  };
  const std::string which = number ? "call " + std::to_string(number) : "the last calls";
  if (team.group.is_first_to_tell()) {
    log_here(
        "error[calls-differ]: rank %d calls %s; rank %d calls %s: %s that Sumac serves on these %d "
        "ranks; ending the job",
        team.rank, called(team.rank).c_str(), rank, called(rank).c_str(), which.c_str(), team.size);
  }
  team.oob.end_job();
}

void report_late(void* context, double seconds) {
  auto& team = *static_cast<Team*>(context);
  if (team.levels.empty()) end_if_calls_differ(team);
  if (seconds < 1) return;
  char missing[256] = "";
  std::size_t used = 0;
  for_each_missing(team, [&](int rank, bool) {
    if (used + 16 > sizeof missing) return;
    const std::size_t room = sizeof missing - used;
    used +=
        static_cast<std::size_t>(std::snprintf(missing + used, room, used ? ", %d" : "%d", rank));
  });
  // Process numbers mean something only where all ranks can see each other's, which cross-memory
  // attach proves.
  for_each_missing(team, [&](int rank, bool) {
    const pid_t pid = team.pids.empty() ? 0 : team.pids[static_cast<std::size_t>(rank)];
    if (pid == 0 || !is_gone(pid)) return;
    log_here(
        "error[rank-lost]: rank %d waited %.0f s in %s for rank %d, whose process is gone; "
        "ending the job",
        team.rank, seconds, team.doing, rank);
    team.oob.end_job();
  });
  const auto limit = static_cast<double>(team.context.options.hang_seconds);
  if (limit > 0 && seconds >= limit && seconds < limit + 1) {
    log_here("warning[hang]: rank %d of %d has waited %.0f s in %s; not arrived: rank %s",
             team.rank, team.size, seconds, team.doing, missing);
  }
}

}  // namespace sumac
