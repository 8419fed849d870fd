// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/process/members.h"

#include <time.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <mutex>
#include <numeric>
#include <string>
#include <vector>

#include "interpose/mpi/mpi_functions.h"
#include "interpose/process/process.h"
#include "machine/presence.h"
#include "observe/log.h"

namespace sumac {
namespace {

// The job as last seen, by any thread.
using Seen = std::shared_ptr<const JobOnNode>;
std::mutex mutex;  // never held while others are waited for
Seen& last_seen = *new Seen;

Seen look() {
  auto job = std::make_shared<JobOnNode>(look_at_job());
  int world_rank = 0;
  mpi.Comm_rank(MPI_COMM_WORLD, &world_rank);
  // The launcher may number ranks in another way than the MPI.
  if (job->own != world_rank) *job = JobOnNode();
  const std::lock_guard<std::mutex> lock(mutex);
  return last_seen = std::move(job);
}

// Looks once a process, and again only where the last look shows a member without Sumac.
Seen seen() {
  {
    const std::lock_guard<std::mutex> lock(mutex);
    if (last_seen) return last_seen;
  }
  return look();
}

// Members of this node without Sumac, and whether there are members that cannot be seen.
struct Judgement {
  std::vector<const JobRank*> without;
  bool sure = true;  // and they will stay so
  bool others = false;
};

Judgement judge(const JobOnNode& job, const std::vector<int>& members) {
  Judgement judgement;
  for (const int member : members) {
    const JobRank* rank = job.find(member);
    if (!rank) {
      judgement.others = true;
    } else if (!rank->served) {
      judgement.without.push_back(rank);
      judgement.sure &= rank->surely_without();
    }
  }
  return judgement;
}

// A rank that looks as if it had not started yet gets a moment to: all members have, as far as the
// MPI tells, but for one that has only been sent broadcasts. A process waits so many times in all.
std::atomic<int> moments{40};
bool wait_a_moment(const Communicator& c) {
  if (moments.fetch_sub(1) <= 0) return false;
  constexpr timespec kMoment{0, 50'000'000};
  probe_mpi(c);
  engine().progress();
  nanosleep(&kMoment, nullptr);
  return true;
}

const char* why(const JobRank& rank) {
  if (rank.disabled) return "SUMAC_DISABLE is set there";
  if (!rank.loaded) return "it is not loaded there";
  return "it is loaded there but could not serve the program";
}

// Describes the first of them, and how many more there are.
std::string describe(const std::vector<const JobRank*>& without) {
  const JobRank& first = *without[0];
  char text[320], more[64] = "";
  if (without.size() > 1) std::snprintf(more, sizeof more, ", as do %zu more", without.size() - 1);
  std::snprintf(text, sizeof text, "rank %d (process %d, %s) runs without Sumac (%s)%s", first.rank,
                static_cast<int>(first.pid), first.command.c_str(), why(first), more);
  return text;
}

void tell(const Communicator& c, const Judgement& judgement) {
  static std::atomic<bool> told;
  if (judgement.others) {
    if (!speaks_for_node(c)) return;
    log_here(
        "error[rank-without-sumac]: %s; ranks on other nodes would wait for it for ever, so the "
        "job is ended. Start every program of the job with 'sumac exec'",
        describe(judgement.without).c_str());
    end_job(c.comm);
  }
  if (told.exchange(true) || !speaks_for_node(c)) return;
  log_here(
      "warning[rank-without-sumac]: %s; communicators that it is a member of are left to the MPI. "
      "Start every program of the job with 'sumac exec'",
      describe(judgement.without).c_str());
}

}  // namespace

std::vector<int> world_ranks(MPI_Comm comm, int size) {
  if (!world_exists()) return {};
  std::vector<int> ranks(static_cast<std::size_t>(size)), in_world(ranks.size(), MPI_UNDEFINED);
  std::iota(ranks.begin(), ranks.end(), 0);
  MPI_Group group = MPI_GROUP_NULL, world = MPI_GROUP_NULL;
  mpi.Comm_group(comm, &group);
  mpi.Comm_group(MPI_COMM_WORLD, &world);
  mpi.Group_translate_ranks(group, size, ranks.data(), world, in_world.data());
  mpi.Group_free(&group);
  mpi.Group_free(&world);
  return in_world;
}

bool speaks_for_node(const Communicator& c) {
  const Seen job = seen();
  for (const int member : world_ranks(c.comm, c.size)) {
    const JobRank* rank = job->find(member);
    if (rank && rank->served) return rank->rank == job->own;
  }
  return true;
}

std::string not_seen(const Communicator& c) {
  constexpr int kMost = 8;
  const Seen job = seen();
  std::string list;
  int left = 0;
  const std::vector<int> in_world = world_ranks(c.comm, c.size);
  for (int r = 0; r < c.size; ++r) {
    const auto index = static_cast<std::size_t>(r);
    const JobRank* rank = in_world.empty() ? nullptr : job->find(in_world[index]);
    if (r == c.rank || (rank && rank->served)) continue;
    if (++left <= kMost) (list += list.empty() ? "" : ", ") += std::to_string(r);
  }
  if (left > kMost) list += " and " + std::to_string(left - kMost) + " more";
  return list;
}

bool members_may_be_served(const Communicator& c, Reason& reason) {
  const std::vector<int> members = world_ranks(c.comm, c.size);
  if (members.empty()) return true;
  if (std::find(members.begin(), members.end(), MPI_UNDEFINED) != members.end()) {
    reason = Reason::other_world;
    return false;
  }
  Seen job = seen();
  if (job->ranks.empty()) return true;
  Judgement judgement = judge(*job, members);
  while (!judgement.without.empty() && !judgement.sure && wait_a_moment(c)) {
    job = look();
    judgement = judge(*job, members);
  }
  if (judgement.without.empty()) return true;
  tell(c, judgement);
  reason = Reason::rank_without;
  return false;
}

}  // namespace sumac
