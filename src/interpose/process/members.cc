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

#include "base/hash.h"
#include "interpose/mpi/mpi_functions.h"
#include "interpose/mpi/world.h"
#include "interpose/process/process.h"
#include "machine/presence.h"
#include "observe/log.h"

namespace sumac {
namespace {

// This is the job as any thread has last seen it.
using Seen = std::shared_ptr<const JobOnNode>;
std::mutex mutex;  // never held while waiting for others
Seen& last_seen = *new Seen;

Seen look() {
  auto job = std::make_shared<JobOnNode>(look_at_job());
  int world_rank = 0;
  mpi.Comm_rank(kMpi.comm_world, &world_rank);
  // The launcher may number ranks in another way than the MPI.
  if (job->own != world_rank) *job = JobOnNode();
  const std::lock_guard<std::mutex> lock(mutex);
  return last_seen = std::move(job);
}

// Looks once in a process, and again only if the last look shows a member without Sumac.
Seen seen() {
  {
    const std::lock_guard<std::mutex> lock(mutex);
    if (last_seen) return last_seen;
  }
  return look();
}

// This is what is known of a communicator's members.
struct Judgement {
  std::vector<int> without;    // ranks in MPI_COMM_WORLD of members that run here without Sumac
  const Mark* mark = nullptr;  // mark of the first of them; null if it has none
  bool sure = true;            // these members will stay without Sumac
  bool others = false;         // there are members that are not seen to run here
  // True if some of those run here, but it is not known which, and there are ranks here without
  // Sumac.
  bool unclear = false;
};

Judgement judge(const JobOnNode& job, const std::vector<int>& members) {
  Judgement judgement;
  int world = 0;
  mpi.Comm_size(kMpi.comm_world, &world);
  for (const int member : members) {
    const Mark* mark = job.find(member);
    if (mark && mark->served()) continue;
    const JobOnNode::Where where = mark ? JobOnNode::Where::here : job.where(member, world);
    if (where != JobOnNode::Where::here) {
      judgement.others = true;
      judgement.unclear |= where == JobOnNode::Where::unknown && !job.is_complete();
      continue;
    }
    if (judgement.without.empty()) judgement.mark = mark;
    judgement.without.push_back(member);
    judgement.sure &= mark != nullptr;
  }
  return judgement;
}

// A rank that looks as if it had not started yet gets a moment to start: as far as the MPI tells,
// all members have started, except for one that has only been sent broadcasts. A process waits so
// many times in all.
std::atomic<int> moments{40};
bool wait_a_moment(const Communicator& c) {
  if (moments.fetch_sub(1) <= 0) return false;
  constexpr timespec kMoment{0, 50'000'000};
  probe_mpi(c);
  engine().progress();
  nanosleep(&kMoment, nullptr);
  return true;
}

std::uint64_t hash_of(const std::vector<int>& members) {
  const auto* bytes = reinterpret_cast<const char*>(members.data());
  const std::uint64_t hash = hash_text({bytes, members.size() * sizeof members[0]});
  return hash ? hash : 1;
}

const char* why(const Mark* mark) {
  if (!mark) return "it is not loaded there";
  return mark->state == Mark::State::disabled
             ? "it is switched off there"
             : "it is loaded there but could not serve the program";
}

// Describes the first of the ranks without Sumac, and how many more there are.
std::string describe(const Judgement& judgement) {
  std::string text = "rank " + std::to_string(judgement.without[0]);
  if (judgement.mark) text += " (process " + std::to_string(judgement.mark->pid) + ")";
  text += std::string(" runs without Sumac (") + why(judgement.mark) + ")";
  const std::size_t more = judgement.without.size() - 1;
  return more ? text + ", as do " + std::to_string(more) + " more" : text;
}

void tell(const Communicator& c, const Judgement& judgement) {
  static std::atomic<bool> told;
  if (judgement.others) {
    if (!speaks_for_node(c)) return;
    log_error(
        "error[rank-without-sumac]: %s; ranks on other nodes would wait for it for ever, so the "
        "job is ended. Start every program of the job with 'sumac exec'",
        describe(judgement).c_str());
    end_job(c.comm);
  }
  if (told.exchange(true) || !speaks_for_node(c)) return;
  log_here(
      "warning[rank-without-sumac]: %s; communicators that it is a member of are left to the MPI. "
      "Start every program of the job with 'sumac exec'",
      describe(judgement).c_str());
}

// Tells that a rank lacks Sumac, but nobody can say which: communicators with it will wait for it.
void tell_of_missing(const Communicator& c, const JobOnNode& job) {
  static std::atomic<bool> told;
  if (told.exchange(true) || !speaks_for_node(c)) return;
  log_here(
      "warning[rank-without-sumac]: of the %d ranks that the launcher has started on this node %zu "
      "run Sumac; a communicator with one that does not will wait for it, until the job is ended "
      "after %llu s (SUMAC_HANG_SECONDS). Start every program of the job with 'sumac exec'",
      job.started, job.marks.size(), static_cast<unsigned long long>(options.hang_seconds));
}

}  // namespace

std::vector<int> world_ranks(MpiComm comm, int size) {
  if (!world_exists()) return {};
  std::vector<int> ranks(static_cast<std::size_t>(size)), in_world(ranks.size(), kMpi.undefined);
  std::iota(ranks.begin(), ranks.end(), 0);
  MpiGroup group = kMpi.group_null, world = kMpi.group_null;
  mpi.Comm_group(comm, one(group));
  mpi.Comm_group(kMpi.comm_world, one(world));
  mpi.Group_translate_ranks(group, size, ranks.data(), world, in_world.data());
  mpi.Group_free(one(group));
  mpi.Group_free(one(world));
  return in_world;
}

bool speaks_for_node(const Communicator& c) {
  const Seen job = seen();
  for (const int member : world_ranks(c.comm, c.size)) {
    const Mark* mark = job->find(member);
    if (mark && mark->served()) return mark->rank == job->own;
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
    const Mark* mark = in_world.empty() ? nullptr : job->find(in_world[index]);
    if (r == c.rank || (mark && mark->served())) continue;
    if (++left <= kMost) (list += list.empty() ? "" : ", ") += std::to_string(r);
  }
  if (left > kMost) list += " and " + std::to_string(left - kMost) + " more";
  return list;
}

bool members_may_be_served(Communicator& c, Reason& reason) {
  const std::vector<int> members = world_ranks(c.comm, c.size);
  c.identity = 0;
  if (members.empty()) return true;
  if (std::find(members.begin(), members.end(), kMpi.undefined) != members.end()) {
    reason = Reason::other_world;
    return false;
  }
  c.identity = hash_of(members);
  Seen job = seen();
  if (job->own < 0) return true;
  Judgement judgement = judge(*job, members);
  const auto may_change = [&] {
    return judgement.unclear || (!judgement.without.empty() && !judgement.sure);
  };
  while (may_change() && wait_a_moment(c)) {
    job = look();
    judgement = judge(*job, members);
  }
  if (judgement.without.empty()) {
    if (judgement.unclear) tell_of_missing(c, *job);
    return true;
  }
  tell(c, judgement);
  reason = Reason::rank_without;
  return false;
}

}  // namespace sumac
