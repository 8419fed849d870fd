// SPDX-License-Identifier: BSD-3-Clause
// How the ranks of a communicator agree, once, on how it is served:
//   1. all meet: nobody goes on before all have come and turn out to run the same build.
//   2. all-gather: who and where everybody is. What follows from it is the same on all ranks.
//   3. where ranks share memory, leaders offer blocks, and all tell what worked for them.
// A local failure never leads to a local decision: it goes into the next agreement.
#include "interpose/backend/set_up.h"

#include <algorithm>

#include "interpose/backend/gather.h"
#include "interpose/backend/hang_doctor.h"
#include "interpose/backend/meeting.h"
#include "interpose/backend/members.h"
#include "interpose/backend/mpi_functions.h"
#include "interpose/backend/progress_hooks.h"
#include "interpose/backend/threads.h"
#include "interpose/backend/trace_plans.h"
#include "interpose/backend/warnings.h"
#include "observe/log.h"

namespace sumac {
namespace {

bool attach_to_all(Communicator& c, const std::vector<Hello>& hellos) {
  if (options.cma != 0) return false;
  c.pids.clear();
  for (const Hello& hello : hellos) c.pids.push_back(hello.pid);
  c.attach = std::make_unique<CrossMemoryAttach>(c.pids.data(), c.size);
  for (int r = 0; r < c.size; ++r) {
    if (r != c.rank && !attach_works(*c.attach, r, hellos[static_cast<std::size_t>(r)].probe)) {
      return false;
    }
  }
  return true;
}

WaitPolicy wait_policy(Communicator& c, bool oversubscribed) {
  constexpr std::uint32_t kSpins = 16384;  // some hundred microseconds
  WaitPolicy policy;
  policy.spins = oversubscribed ? 0 : kSpins;
  if (options.spin > 0) policy.spins = static_cast<std::uint32_t>(options.spin);
  policy.drive = drive_mpi;
  policy.late = report_late;
  policy.context = &c;
  return policy;
}

// One group of all ranks, in shared memory.
void share(Communicator& c, const std::vector<Hello>& hellos, Wishes& wishes) {
  Ticket ticket;
  if (c.rank == 0) {
    ticket = arena().offer(c.size, 1, c.processes.data(), options.shm_budget);
  }
  mpi.Bcast(&ticket, static_cast<int>(sizeof ticket), MPI_BYTE, 0, c.comm);
  if (ticket.offer == Offer::over_budget) return hand_down_for_good(c, Reason::budget);
  if (ticket.offer == Offer::refused) return hand_down_for_good(c, Reason::shared_memory);

  std::byte* block = arena().accept(ticket, c.rank);
  const int agreed = agree(c, (block ? kMapped : 0) | (attach_to_all(c, hellos) ? kAttach : 0));
  if (!(agreed & kMapped)) {
    arena().abandon(ticket);
    return hand_down_for_good(c, Reason::shared_memory);
  }
  if (c.rank == 0) arena().confirm(ticket);

  Capabilities capabilities;
  capabilities.ranks = c.size;
  capabilities.family = kFamily;
  capabilities.single_copy = agreed & kAttach;
  capabilities.oversubscribed = is_oversubscribed(hellos, c.rank);
  if (!capabilities.single_copy) {
    c.attach.reset();
    c.pids.clear();
  }
  c.blocks.push_back(block);
  c.group = ShmGroup(block, ticket.layout, c.rank);
  c.plans = PlanTable(user_rules(), capabilities, options.algo);
  wishes.note_rules(capabilities);
  for (const Algorithm algorithm : wishes.forced) {
    const bool here = !c.levels_for[static_cast<int>(info_of(algorithm).collective)];
    if (here) wishes.note(algorithm, why_not(algorithm, capabilities));
  }
  for (const CollectiveInfo& info : kCollectives) {
    const bool here =
        is_of_ranks(info.collective) && !c.levels_for[static_cast<int>(info.collective)];
    if (here) trace_plans(c, info.collective, c.plans, "one group that shares memory");
  }
}

// Nonblocking calls must end on every rank while others are anywhere in the MPI. In shared memory
// the helper thread sees to it, if nothing else does.
bool may_overlap(const Communicator& c, const std::vector<Hello>& hellos) {
  if (static_cast<Progressing>(options.progress) == Progressing::off) return false;
  const auto has_world = [](const Hello& hello) { return hello.world != 0; };
  if (!std::all_of(hellos.begin(), hellos.end(), has_world)) return false;
  return !c.sends_messages() || std::all_of(hellos.begin(), hellos.end(), [](const Hello& hello) {
    return hello.progresses_messages != 0;
  });
}

bool all_have_levels(const Communicator& c) {
  return std::all_of(std::begin(kCollectives), std::end(kCollectives), [&](const auto& info) {
    return !has_levels(info.collective) || c.levels_for[static_cast<int>(info.collective)];
  });
}

}  // namespace

int agree(const Communicator& c, int worked) {
  int agreed = 0;
  mpi.Allreduce(&worked, &agreed, 1, MPI_INT, MPI_BAND, c.comm);
  return agreed;
}

std::vector<Hello> gather_hellos(const Communicator& c) {
  const Hello own = own_hello(c.hierarchy.empty() ? nullptr : c.hierarchy.c_str());
  std::vector<Hello> hellos(static_cast<std::size_t>(c.size));
  mpi.Allgather(&own, static_cast<int>(sizeof own), MPI_BYTE, hellos.data(),
                static_cast<int>(sizeof own), MPI_BYTE, c.comm);
  return hellos;
}

void hand_down_for_good(Communicator& c, Reason reason) {
  static std::atomic<bool> told[kNumReasons];
  c.state = Communicator::State::handed_down;
  c.reason = reason;
  c.attach.reset();
  const bool worth_a_word = reason == Reason::builds_differ || reason == Reason::shared_memory ||
                            reason == Reason::messages;
  if (worth_a_word && !told[static_cast<int>(reason)].exchange(true)) {
    log(Level::warn, "warning[handed-down]: a communicator of %d ranks is left to the MPI: %s%s",
        c.size, text_of(reason) + 5,
        reason == Reason::builds_differ ? "; start all from one installation" : "");
  }
}

void set_up(Communicator& c, bool all_entered) {
  int inter = 0;
  mpi.Comm_test_inter(c.comm, &inter);
  if (inter) return hand_down_for_good(c, Reason::intercommunicator);
  mpi.Comm_size(c.comm, &c.size);
  mpi.Comm_rank(c.comm, &c.rank);
  if (c.size == 1) {
    c.state = Communicator::State::alone;
    return;
  }
  Reason reason;
  if (!members_may_be_served(c, reason)) return hand_down_for_good(c, reason);
  if (!meet(c, all_entered)) return hand_down_for_good(c, Reason::builds_differ);
  const std::vector<Hello> hellos = gather_hellos(c);
  c.trace_group = hellos[0].process + hellos[0].serial;
  for (const Hello& hello : hellos) c.processes.push_back(hello.process);
  c.traced = 0;
  tell_kept_warnings(c, hellos);
  agree_on_gathering(c, hellos);
  if (!can_agree(hellos, reason)) {
    if (reason == Reason::options_differ) explain_difference(c, hellos);
    return hand_down_for_good(c, reason);
  }
  // From here on all ranks have the same options.
  learn_processors(hellos, c.rank);
  if (c.calls < options.build_after) return;
  Wishes wishes;
  if (!set_up_levels(c, hellos, wishes)) return;
  if (!all_have_levels(c)) share(c, hellos, wishes);
  if (c.state == Communicator::State::handed_down) return;
  tell_unmet(c, wishes);
  c.wait_policy = wait_policy(c, is_oversubscribed(hellos, c.rank));
  set_spins_of_process(c.wait_policy.spins);
  c.may_overlap = may_overlap(c, hellos);
  c.queue.set_single_caller(!threads_may_call_mpi());
  c.state = Communicator::State::together;
}

}  // namespace sumac
