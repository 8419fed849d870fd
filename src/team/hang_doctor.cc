// SPDX-License-Identifier: BSD-3-Clause
#include "team/hang_doctor.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <set>
#include <string>

#include "base/cpu.h"
#include "observe/log.h"
#include "progress/announced.h"
#include "team/hang_doctor_page.h"

namespace sumac {
namespace {

const char* name_of_call(const Team& team) {
  const int doing = team.doing.load(std::memory_order_relaxed);
  return doing < 0 ? "" : name_of(static_cast<Collective>(doing));
}

}  // namespace

std::vector<WatchedRank> watch_ranks(const std::vector<Hello>& node, const Hello& own) {
  std::vector<WatchedRank> watched(node.size());
  if (own.pid_namespace == 0) return watched;
  for (std::size_t r = 0; r < node.size(); ++r) {
    const Hello& hello = node[r];
    const bool seen = hello.pid_namespace == own.pid_namespace && hello.pid != own.pid;
    if (seen) watched[r] = {{hello.pid, hello.begin}, hello.job_rank};
  }
  return watched;
}

bool is_lost(const Team& team, int rank) {
  const int place = team.node.watched.empty() ? -1 : team.node.ranks.index_of(rank);
  return place >= 0 && is_gone(team.node.watched[static_cast<std::size_t>(place)].process);
}

void end_for_lost_rank(const Team& team, int rank) {
  const auto place = static_cast<std::size_t>(team.node.ranks.index_of(rank));
  const WatchedRank& lost = team.node.watched[place];
  const std::string in_job =
      lost.job_rank < 0 ? "" : "rank " + std::to_string(lost.job_rank) + " of the job, ";
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  // With levels there is no group, and every rank that finds out says so.
  if (team.group.is_first_to_tell()) {
    log_error(
        "error[rank-lost]: rank %d of %d in %s on %s needs rank %d (%sprocess %d on %s), whose "
        "process is gone; ending the job",
        team.rank, team.size, name_of_call(team), team.oob.name().c_str(), rank, in_job.c_str(),
        static_cast<int>(lost.process.pid), host);
  }
  team.oob.end_job();
}

namespace {

// All of this reads what operations of the team write when they begin and go on: `begun` is the
// first one in the queue, which is held meanwhile.

// Calls visit(rank, in_group) for every rank that is still waited for. `in_group` says that it is
// waited for in the slots of the team's one group.
template <class Visit>
void for_each_missing(const Team& team, const Work* begun, Visit visit) {
  const auto of_work = [&](const Work& work) {
    work.strand().waiting_for().for_each_missing([&](const Counter& counter) {
      int owner = team.group.owner_of(&counter);
      const bool in_group = owner >= 0;
      for (const auto& own : team.own_ranks) owner = std::max(owner, own->group.owner_of(&counter));
      if (owner >= 0) visit(owner, in_group);
    });
  };
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
}

// Ends the job, since this rank and `rank` of `group` are in different calls: those of this number,
// or the last ones if it is 0. `members` are the group's ranks in the team; it is empty if they are
// all of the team's.
void end_for_different_calls(const Team& team, const ShmGroup& group, const RankList& members,
                             int rank, std::uint64_t number) {
  const auto named = [&](int of) { return members.empty() ? of : members[of]; };
  const auto called = [&](int of) {
    Announcement call;
    return group.announced(of, number, call) ? text_of(call) : "nothing that is known";
  };
  const std::string which = number ? "call " + std::to_string(number) : "the last calls";
  if (group.is_first_to_tell()) {
    log_error(
        "error[calls-differ]: rank %d calls %s; rank %d calls %s: %s that Sumac serves on these %d "
        "ranks%s; ending the job",
        team.rank, called(group.rank()).c_str(), named(rank), called(rank).c_str(), which.c_str(),
        team.size, members.empty() ? "" : " in levels");
  }
  team.oob.end_job();
}

// Ends the job if a rank that is waited for in the team's own group has finished all that this rank
// has begun there: it has called something else. A rank publishes its data before that, so this
// looks first whether the rank is through.
void end_if_missing_are_through(const Team& team, const Work* begun) {
  std::vector<bool> through;
  for (int r = 0; r < team.size; ++r) through.push_back(team.group.is_through(r));
  for_each_missing(team, begun, [&](int rank, bool in_group) {
    if (in_group && through[static_cast<std::size_t>(rank)]) {
      end_for_different_calls(team, team.group, {}, rank, 0);
    }
  });
}

// Lists the ranks that are waited for. One that has begun the same call has published its data
// there or will when it goes on: it is in a nonblocking call, in which nothing goes on by itself.
std::string list_missing(const Team& team, const Work* begun) {
  constexpr std::size_t kMost = 90;
  std::string missing;
  std::set<int> listed;
  for_each_missing(team, begun, [&](int rank, bool in_group) {
    if (!listed.insert(rank).second || missing.size() > kMost) return;
    missing += (missing.empty() ? "" : ", ") + std::to_string(rank);
    if (in_group && team.group.has_begun(rank)) missing += " (has begun it, and does not go on)";
  });
  if (missing.size() > kMost) missing += " ...";
  return missing;
}

std::uint64_t calls_of(const CallCounts& stats) {
  std::uint64_t calls = 0;
  for (const PathCount& count : stats.taken) calls += count.calls;
  for (const PathCount& count : stats.local) calls += count.calls;
  for (const auto& of_collective : stats.handed) {
    for (const PathCount& count : of_collective) calls += count.calls;
  }
  return calls;
}

void set_text(char* to, std::size_t room, const std::string& text) {
  std::snprintf(to, room, "%s", text.c_str());
}

// Describes the call that is waited for: the blocking one, or the first that has begun.
void describe_call(const Team& team, const Work* begun, RankStatus& page) {
  const Work& work = begun && team.work.strand().idle() ? *begun : team.work;
  page.bytes = work.bytes();
  set_text(page.algorithm, sizeof page.algorithm, name_of(work.algorithm()));
}

void tell_status(Team& team, const Work* begun, double seconds, const std::string& missing) {
  RankStatus* const page = own_page();
  if (!page) return;
  const PageWriting writing(*page);
  const std::uint64_t now = clock_ns();
  page->fresh_ns = now;
  page->since_ns = now - static_cast<std::uint64_t>(seconds * 1e9);
  page->team = team.trace_group;
  page->nth = calls_of(team.stats) + 2;  // the first call came before the team
  page->rank = team.rank;
  page->ranks = team.size;
  set_text(page->collective, sizeof page->collective, name_of_call(team));
  set_text(page->communicator, sizeof page->communicator, team.oob.name());
  set_text(page->missing, sizeof page->missing, missing);
  page->job_rank = log_rank();
  describe_call(team, begun, *page);
}

// Writes one report for the ranks of this host. If they cannot be seen, it is a line about this
// rank alone.
void report_hang(Team& team, double seconds, const std::string& missing) {
  RankStatus* const page = own_page();
  const std::vector<SeenRank> ranks = page ? seen_ranks() : std::vector<SeenRank>();
  const SeenRank self = seen_self();
  const std::uint64_t now = clock_ns(), limit = team.context.options.hang_seconds * 1'000'000'000;
  if (page && !is_to_report(ranks, self.status, now, limit)) return;
  if (page) {
    const PageWriting writing(*page);
    page->reported_ns = now;
  }
  char first[400];
  std::snprintf(first, sizeof first,
                "warning[hang]: rank %d of %d has waited %.0f s in %s; not arrived: rank %s",
                team.rank, team.size, seconds, name_of_call(team), missing.c_str());
  std::vector<std::string> lines{first};
  for (const std::string& line : report_lines(ranks, now)) lines.push_back("  " + line);
  const int missed = self.status.job_ranks - static_cast<int>(ranks.size());
  if (page && missed > 0) {
    lines.push_back("  " + std::to_string(missed) + " of the job's " +
                    std::to_string(self.status.job_ranks) +
                    " ranks are on other hosts, or have ended");
  }
  log_here_in_lines(lines);
}

// Ends the job if a process that is waited for is gone, since nothing else may end the wait.
void end_if_rank_is_lost(const Team& team, const Work* begun) {
  int lost = -1;
  for_each_missing(team, begun, [&](int rank, bool) {
    if (lost < 0 && is_lost(team, rank)) lost = rank;
  });
  if (lost >= 0) end_for_lost_rank(team, lost);
}

// Ends the job, with a line that says who calls what, if this rank and another one that shares
// memory with it are in different calls on the team, as both have announced. It is only for a rank
// that has waited long. Returns true if they are; an MPI that another thread is ending already may
// return.
bool end_if_calls_differ(const Team& team) {
  bool differ = false;
  // Persistent operations announce themselves on slots of their own.
  const auto look = [&](const ShmGroup& group, const RankList& members) {
    std::uint64_t number = 0;
    const int rank = differ ? -1 : group.find_different(number);
    if (rank < 0) return;
    differ = true;
    end_for_different_calls(team, group, members, rank, number);
  };
  look(team.group, {});
  for (const auto& levels : team.levels) levels->for_each_listing(look);
  return differ;
}

void report(Team& team, const Work* begun, double seconds) {
  end_if_rank_is_lost(team, begun);
  if (!end_if_calls_differ(team)) end_if_missing_are_through(team, begun);
  if (seconds < 1) return;
  const std::string missing = list_missing(team, begun);
  tell_status(team, begun, seconds, missing);
  const auto limit = static_cast<double>(team.context.options.hang_seconds);
  if (limit > 0 && seconds >= limit && seconds < limit + 1) report_hang(team, seconds, missing);
}

}  // namespace

// Nobody else may call a collective on the team, but other threads may advance what is in its
// queue, where operations begin.
void report_late(void* context, double seconds) {
  auto& team = *static_cast<Team*>(context);
  team.queue.hold([&](const Work* begun) { report(team, begun, seconds); });
}

// While an operation is under way, the next calls on the team go through its queue as well.
void report_late_beside(void* context, double seconds) {
  auto& team = *static_cast<Team*>(context);
  team.queue.hold([&](const Work* begun) {
    if (begun) report(team, begun, seconds);
  });
}

}  // namespace sumac
