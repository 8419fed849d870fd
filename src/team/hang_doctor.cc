// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/backend/hang_doctor.h"

#include <errno.h>
#include <signal.h>

#include <algorithm>
#include <cstdio>

#include "interpose/backend/communicator.h"
#include "interpose/backend/messages.h"
#include "interpose/backend/mpi_functions.h"
#include "observe/log.h"

namespace sumac {
namespace {

// Calls visit(rank, in_group) for every rank that is still waited for, `in_group` where that is for
// something in the slots of the communicator's one group. Another thread may look at the queue.
template <class Visit>
void for_each_missing(Communicator& c, Visit visit) {
  const auto of_work = [&](const Work& work) {
    work.strand().waiting_for().for_each_missing([&](const Counter& counter) {
      int owner = c.group.owner_of(&counter);
      const bool in_group = owner >= 0;
      for (const auto& own : c.own_ranks) owner = std::max(owner, own->group.owner_of(&counter));
      if (owner >= 0) visit(owner, in_group);
    });
  };
  c.queue.hold([&](const Work* begun) {
    of_work(c.work);
    for (; begun; begun = begun->next) {
      if (begun != &c.work) of_work(*begun);
    }
    const auto visit_other = [&](int rank) { visit(rank, false); };
    for (const auto& levels : c.levels) {
      levels->for_each_missing(visit_other);
      const auto* messages = static_cast<const MpiMessages*>(levels->messages());
      if (messages) messages->for_each_peer(visit_other);
    }
    for (const auto& own : c.own_ranks) {
      if (own->levels) own->levels->for_each_missing(visit_other);
    }
  });
}

// Ranks whose calls differ wait for each other for ever.
void end_if_calls_differ(Communicator& c) {
  // What a rank has to show, it shows before it is through: looked at in the opposite order. Of
  // persistent operations, on slots of their own, the group's positions tell nothing.
  std::vector<bool> through;
  for (int r = 0; r < c.size; ++r) through.push_back(c.group.is_through(r));
  for_each_missing(c, [&](int rank, bool in_group) {
    const bool shows_no_more = through[static_cast<std::size_t>(rank)];
    if (in_group && (shows_no_more || c.group.differs(rank))) end_for_different_calls(c, rank);
  });
}

bool is_gone(pid_t pid) { return kill(pid, 0) != 0 && errno == ESRCH; }

}  // namespace

void end_for_different_calls(const Communicator& c, int rank) {
  const std::uint64_t mine = c.group.announced(c.rank), theirs = c.group.announced(rank);
  const auto bytes = [](std::uint64_t announced) {
    return static_cast<unsigned long long>(Work::bytes_of(announced));
  };
  log_here(
      "error[calls-differ]: rank %d calls %s of %llu bytes with rank %d, whose last call is %s of "
      "%llu; ending the job",
      c.rank, name_of(Work::collective_of(mine)), bytes(mine), rank,
      name_of(Work::collective_of(theirs)), bytes(theirs));
  end_job(c.comm);
}

// A probe that finds a message makes no progress in Open MPI: it asks for one that nobody sends,
// from this rank to itself, with a tag every MPI allows.
void probe_mpi(const Communicator& c) {
  constexpr int kUnusedTag = 32749;
  int flag = 0;
  const bool freed = c.handle.load(std::memory_order_relaxed) == 0;
  mpi.Iprobe(freed ? 0 : c.rank, kUnusedTag, freed ? MPI_COMM_SELF : c.comm, &flag,
             MPI_STATUS_IGNORE);
}

void drive_mpi(void* context) {
  probe_mpi(*static_cast<const Communicator*>(context));
  engine().progress();
}

void report_late(void* context, double seconds) {
  auto& c = *static_cast<Communicator*>(context);
  char missing[256] = "";
  std::size_t used = 0;
  for_each_missing(c, [&](int rank, bool) {
    if (used + 16 > sizeof missing) return;
    const std::size_t room = sizeof missing - used;
    used +=
        static_cast<std::size_t>(std::snprintf(missing + used, room, used ? ", %d" : "%d", rank));
  });
  // Process numbers mean something only where all ranks can see each other's, which attach proves.
  for_each_missing(c, [&](int rank, bool) {
    const pid_t pid = c.pids.empty() ? 0 : c.pids[static_cast<std::size_t>(rank)];
    if (pid == 0 || !is_gone(pid)) return;
    log_here(
        "error[rank-lost]: rank %d waited %.0f s in %s for rank %d, whose process is gone; "
        "ending the job",
        c.rank, seconds, c.doing, rank);
    end_job(c.comm);
  });
  if (c.levels.empty()) end_if_calls_differ(c);
  const auto limit = static_cast<double>(options.hang_seconds);
  if (limit > 0 && seconds >= limit && seconds < limit + 1) {
    log_here("warning[hang]: rank %d of %d has waited %.0f s in %s; not arrived: rank %s", c.rank,
             c.size, seconds, c.doing, missing);
  }
}

void report_late_anywhere(void*, double seconds) {
  for (Communicator* c : all_communicators()) {
    if (!c->queue.empty()) report_late(c, seconds);
  }
}

}  // namespace sumac
