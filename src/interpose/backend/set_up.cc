// SPDX-License-Identifier: BSD-3-Clause
// How the ranks of a communicator agree, once, on how it is served. Three collectives of the MPI:
//   1. all-gather: who and where everybody is. What follows from it is the same on all ranks.
//   2. broadcast: the block that the leader (rank 0) offers.
//   3. all-reduce: what worked everywhere.
// A local failure never leads to a local decision: it goes into the next agreement.
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>

#include "base/version.h"
#include "interpose/backend/communicator.h"
#include "interpose/backend/hang_doctor.h"
#include "interpose/backend/mpi_functions.h"
#include "observe/log.h"
#include "topology/machine.h"

namespace sumac {
namespace {

// What a rank tells all others. Plain bytes.
struct Hello {
  std::uint64_t build;
  std::uint64_t options;
  std::uint64_t node;
  std::uint64_t process;
  std::uint64_t serial;  // of what the process has agreed on
  AttachProbe probe;
  CpuMask cpus;
  std::int32_t pid;
  std::int32_t job_ranks_on_node;
  std::int32_t cpu_quota;
  std::int32_t accelerator;
};

Hello own_hello() {
  Hello hello{};
  hello.build = build_hash();
  hello.options = sumac_options_hash(&options);
  hello.node = node_id();
  hello.process = process_word();
  static std::atomic<std::uint64_t> serials{0};
  hello.serial = ++serials;
  hello.probe = own_attach_probe();
  hello.cpus = own_cpus();
  hello.pid = getpid();
  hello.job_ranks_on_node = job_ranks_on_node();
  hello.cpu_quota = cpu_quota();
  look_for_devices();
  hello.accelerator = device_memory_possible();
  return hello;
}

// Whether shared memory can serve these ranks; the reason why not. A function of shared values.
bool can_share(const std::vector<Hello>& hellos, Reason& reason) {
  const Hello& first = hellos[0];
  for (const Hello& hello : hellos) {
    if (hello.build != first.build)
      reason = Reason::builds_differ;
    else if (hello.options != first.options)
      reason = Reason::options_differ;
    else if (hello.node != first.node)
      reason = Reason::several_nodes;
    else if (hello.accelerator)
      reason = Reason::device;
    else
      continue;
    return false;
  }
  return true;
}

// More ranks than processors, going by affinity, control groups and the size of the whole job here.
bool is_oversubscribed(const std::vector<Hello>& hellos) {
  CpuMask together;
  int ranks = static_cast<int>(hellos.size()), quota = 0;
  for (const Hello& hello : hellos) {
    together.add(hello.cpus);
    ranks = std::max(ranks, hello.job_ranks_on_node);
    if (hello.cpu_quota > 0 && (quota == 0 || hello.cpu_quota < quota)) quota = hello.cpu_quota;
  }
  int processors = together.count();
  if (quota > 0) processors = std::min(processors, quota);
  // A part of the job's ranks, bound to processors of their own, says nothing of the others.
  const int here = static_cast<int>(hellos.size());
  return here > processors || (ranks > here && together.count() > here && ranks > processors);
}

enum Agreed : int { kMapped = 1, kAttach = 2 };

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

void hand_down_for_good(Communicator& c, Reason reason) {
  static std::atomic<bool> told[kNumReasons];
  c.state = Communicator::State::handed_down;
  c.reason = reason;
  c.attach.reset();
  const bool worth_a_word = reason == Reason::options_differ || reason == Reason::builds_differ ||
                            reason == Reason::shared_memory;
  if (worth_a_word && !told[static_cast<int>(reason)].exchange(true)) {
    log(Level::warn, "warning[handed-down]: a communicator of %d ranks is left to the MPI: %s",
        c.size, text_of(reason) + 5);
  }
}

void share(Communicator& c, const std::vector<Hello>& hellos) {
  Ticket ticket;
  if (c.rank == 0) {
    std::vector<std::uint64_t> members;
    for (const Hello& hello : hellos) members.push_back(hello.process);
    ticket = arena().offer(c.size, members.data(), options.shm_budget);
  }
  mpi.Bcast(&ticket, static_cast<int>(sizeof ticket), MPI_BYTE, 0, c.comm);
  if (ticket.offer == Offer::over_budget) return hand_down_for_good(c, Reason::budget);
  if (ticket.offer == Offer::refused) return hand_down_for_good(c, Reason::shared_memory);

  std::byte* block = arena().accept(ticket, c.rank);
  int worked = (block ? kMapped : 0) | (attach_to_all(c, hellos) ? kAttach : 0);
  int agreed = 0;
  mpi.Allreduce(&worked, &agreed, 1, MPI_INT, MPI_BAND, c.comm);
  if (!(agreed & kMapped)) {
    arena().abandon(ticket);
    return hand_down_for_good(c, Reason::shared_memory);
  }
  if (c.rank == 0) arena().confirm(ticket);

  Capabilities capabilities;
  capabilities.ranks = c.size;
  capabilities.single_copy = agreed & kAttach;
  capabilities.oversubscribed = is_oversubscribed(hellos);
  if (!capabilities.single_copy) c.attach.reset();
  c.group = ShmGroup(block, ticket.layout, c.rank);
  c.plans = PlanTable(capabilities, options.algo);
  c.wait_policy = wait_policy(c, capabilities.oversubscribed);
  c.state = Communicator::State::together;
  log(Level::trace, "rank %d of %d: set up, %s, %s", c.rank, c.size,
      capabilities.single_copy ? "cross-memory attach" : "slots only",
      capabilities.oversubscribed ? "more ranks than processors" : "a processor for every rank");
}

}  // namespace

void set_up(Communicator& c) {
  int inter = 0;
  mpi.Comm_test_inter(c.comm, &inter);
  if (inter) return hand_down_for_good(c, Reason::intercommunicator);
  mpi.Comm_size(c.comm, &c.size);
  mpi.Comm_rank(c.comm, &c.rank);
  if (c.size == 1) {
    c.state = Communicator::State::alone;
    return;
  }
  const Hello own = own_hello();
  std::vector<Hello> hellos(static_cast<std::size_t>(c.size));
  mpi.Allgather(&own, static_cast<int>(sizeof own), MPI_BYTE, hellos.data(),
                static_cast<int>(sizeof own), MPI_BYTE, c.comm);
  c.trace_group = hellos[0].process + hellos[0].serial;
  c.traced = 0;
  Reason reason;
  if (!can_share(hellos, reason)) return hand_down_for_good(c, reason);
  // From here on all ranks have the same options.
  if (c.calls < options.build_after) return;
  share(c, hellos);
}

}  // namespace sumac
