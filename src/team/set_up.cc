// SPDX-License-Identifier: BSD-3-Clause
#include "team/set_up.h"

#include <algorithm>
#include <atomic>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "observe/log.h"
#include "progress/engine.h"
#include "team/hang_doctor.h"
#include "team/hang_doctor_page.h"
#include "team/thread_budget.h"
#include "team/warnings.h"

namespace sumac {
namespace {

std::vector<Hello> gather_hellos(Team& team, const Hello& own) {
  std::vector<Hello> hellos(static_cast<std::size_t>(team.size));
  team.oob.all_gather(&own, hellos.data(), sizeof own);
  return hellos;
}

void note_members(Team& team, const std::vector<Hello>& hellos) {
  team.trace_group = hellos[0].process + hellos[0].serial;
  team.traced = 0;
  team.processes.clear();
  for (const Hello& hello : hellos) team.processes.push_back(hello.process);
  team.spec = spec_of(hellos, team.context.family);
  team.spec.in_rank_order = team.context.options.reproducible != 0;
  team.spec.node_radix = static_cast<std::uint16_t>(team.context.options.node_radix);
  team.reports_together = std::all_of(hellos.begin(), hellos.end(), [&](const Hello& hello) {
    return hello.world == team.size && hello.gathers != 0;
  });
}

// Returns what this rank can do with the buffers of all others of its node.
Reach reach_own_node(Team& team, const std::vector<Hello>& hellos) {
  team.pids.assign(hellos.size(), 0);
  if (team.context.options.cma != 0) return Reach::none;
  std::vector<pid_t> pids;
  for (const Hello& hello : hellos) pids.push_back(hello.pid);
  CrossMemoryAttach memory(pids.data(), team.size);
  const std::uint64_t node = hellos[static_cast<std::size_t>(team.rank)].place.node;
  bool all = true;
  for (std::size_t r = 0; r < hellos.size(); ++r) {
    if (hellos[r].place.node != node) continue;
    const int rank = static_cast<int>(r);
    const bool works = rank == team.rank || attach_works(memory, rank, hellos[r].probe);
    if (works) team.pids[r] = hellos[r].pid;
    all &= works;
  }
  return all ? Reach::copies : Reach::none;
}

// Makes the tables of choices for the ranks of one group: one for all calls, and, if they see each
// other's memory, another one that also has the direct algorithms.
void make_choices(Team& team, const Capabilities& capabilities) {
  Capabilities copies = capabilities;
  copies.reach = std::min(copies.reach, Reach::copies);
  team.choices = ChoiceTable(team.context.rules, copies, team.context.options.algo);
  if (capabilities.reach != Reach::maps) return;
  team.direct_tries = std::make_unique<DirectTries>(
      ChoiceTable(team.context.rules, capabilities, team.context.options.algo));
}

WaitPolicy wait_policy(Team& team, bool oversubscribed) {
  WaitPolicy policy;
  policy.own_processor = !oversubscribed;
  policy.spins = oversubscribed ? 0 : Waiting::kSpinsPerDrive;
  const std::uint64_t asked = team.context.options.spin;
  if (asked > 0) policy.spins = static_cast<std::uint32_t>(asked);
  policy.drive = [](void* context) { static_cast<Team*>(context)->oob.drive(); };
  policy.late = report_late;
  policy.context = &team;
  return policy;
}

// Makes all ranks one group in shared memory. Returns false, with the team handed down, if that
// fails.
bool share(Team& team, const std::vector<Hello>& hellos, Reach reach, Wishes& wishes) {
  Arena& arena = team.context.arena;
  const RankList all = RankList::first(team.size);
  Offered offered;
  const Ticket& ticket = offered.ticket;
  if (team.rank == 0) {
    offered.ticket =
        arena.offer(team.size, 1, team.processes.data(), team.context.options.shm_budget,
                    team.spec.slots_of(0), team.context.control());
    tell_measured(team, all, offered);
  }
  team.oob.broadcast(&offered, sizeof offered);
  if (ticket.offer == Offer::over_budget || ticket.offer == Offer::refused) {
    const bool over = ticket.offer == Offer::over_budget;
    hand_down_for_good(team, over ? Reason::budget : Reason::shared_memory);
    return false;
  }
  std::byte* block = arena.accept(ticket, team.rank);
  auto mapped = reach == Reach::none ? nullptr : map_all(team.pids, hellos, team.rank);
  if (mapped) reach = Reach::maps;
  const std::uint64_t agreed = agree(team, (block ? kMapped : 0) | bits_of(reach));
  if (!(agreed & kMapped)) {
    arena.abandon(ticket);
    hand_down_for_good(team, Reason::shared_memory);
    return false;
  }
  arena.confirm(ticket);
  team.blocks.push_back(block);
  team.group = ShmGroup(block, ticket.layout, team.rank);
  if (!marks_calls(team)) team.group.mark_no_calls();
  team.spec.reach = reach_of(agreed);
  const bool maps = team.spec.reach == Reach::maps;
  team.peers = maps ? std::move(mapped) : make_peer_memory(team.spec.reach, team.pids);
  team.spec.measured = offered.measured;
  if (!offered.known) {
    std::vector<MeasuredGroup> groups{{team.group, all, team.peers.get()}};
    measure_groups(team, groups);
    team.spec.measured = groups[0].measured;
  }
  const Capabilities capabilities = team.spec.of_one_group();
  make_choices(team, capabilities);
  wishes.judge_group(team, capabilities);
  return true;
}

// Returns true if nonblocking calls end on every rank while others are anywhere in the MPI, as they
// must. In shared memory the helper thread sees to it if nothing else does.
bool may_overlap(const Team& team, const std::vector<Hello>& hellos) {
  if (static_cast<Progressing>(team.context.options.progress) == Progressing::off) return false;
  return std::all_of(hellos.begin(), hellos.end(), [&](const Hello& hello) {
    return hello.world != 0 && (!team.sends_messages() || hello.progresses_messages != 0);
  });
}

// Counts an obstacle that keeps ranks of one machine from each other's memory, and logs each once.
void tell_obstacle(Obstacle obstacle) {
  static std::atomic<bool> told[kNumObstacles];
  count_obstacle(obstacle);
  if (told[static_cast<int>(obstacle)].exchange(true)) return;
  log(Level::info, "slower: %s", kObstacleTexts[static_cast<int>(obstacle)].text);
}

void tell_obstacles(const Team& team, const std::vector<Hello>& hellos) {
  if (!team.context.shares_memory) return;
  bool share = false, apart = false;
  std::unordered_set<std::uint64_t> nodes;
  std::unordered_map<std::uint64_t, std::uint64_t> node_of;  // indexed by machine
  for (const Hello& hello : hellos) {
    share |= !nodes.insert(hello.place.node).second;
    apart |= node_of.try_emplace(hello.machine, hello.place.node).first->second != hello.place.node;
  }
  if (share && team.spec.reach == Reach::none) {
    tell_obstacle(team.context.options.cma != 0 ? Obstacle::attach_off : Obstacle::attach_refused);
  }
  if (apart) tell_obstacle(Obstacle::containers);
}

bool all_have_levels(const Team& team) {
  return std::all_of(std::begin(kCollectives), std::end(kCollectives), [&](const auto& info) {
    return !is_of_ranks(info.collective) || team.levels_for[static_cast<int>(info.collective)];
  });
}

}  // namespace

std::unique_ptr<PeerMemory> make_peer_memory(Reach reach, const std::vector<pid_t>& pids) {
  if (reach == Reach::none) return nullptr;
  return std::make_unique<CrossMemoryAttach>(pids.data(), static_cast<int>(pids.size()));
}

std::unique_ptr<PeerMemory> map_all(const std::vector<pid_t>& pids,
                                    const std::vector<Hello>& members, int own) {
  std::vector<FileIdentity> files;
  for (const Hello& hello : members) {
    if (hello.memory_file.descriptor < 0) return nullptr;
    files.push_back(hello.memory_file);
  }
  auto memory =
      std::make_unique<MappedMemory>(make_peer_memory(Reach::copies, pids), pids, files, own);
  if (!memory->works()) return nullptr;
  return memory;
}

std::uint64_t agree(Team& team, std::uint64_t worked) {
  team.oob.all_and(&worked, 1);
  return worked;
}

void hand_down_for_good(Team& team, Reason reason) {
  static std::atomic<bool> told[kNumReasons];
  team.give_back();
  team.state = Team::State::handed_down;
  team.reason = reason;
  team.peers.reset();
  const bool worth_a_word = reason == Reason::builds_differ || reason == Reason::shared_memory ||
                            reason == Reason::messages;
  if (worth_a_word && !told[static_cast<int>(reason)].exchange(true)) {
    log(Level::warn, "warning[handed-down]: a communicator of %d ranks is left to the MPI: %s%s",
        team.size, text_of(reason) + 5,
        reason == Reason::builds_differ ? "; start all from one installation" : "");
  }
}

void set_up_team(Team& team, const Hello& own, bool agree_only) {
  const std::vector<Hello> hellos = gather_hellos(team, own);
  note_members(team, hellos);
  tell_kept_warnings(team, hellos);
  Reason reason;
  if (!can_agree(hellos, reason)) {
    if (reason == Reason::options_differ) explain_difference(team, hellos);
    return hand_down_for_good(team, reason);
  }
  // From here on all ranks have the same options.
  learn_processors(hellos, team.rank);
  if (agree_only) return;
  Wishes wishes(team.context);
  team.watched = watch_ranks(hellos, team.rank);
  const Reach reach = reach_own_node(team, hellos);
  if (!set_up_levels(team, hellos, reach, wishes)) return;
  if (!all_have_levels(team) && !share(team, hellos, reach, wishes)) return;
  tell_unmet(team, wishes);
  tell_obstacles(team, hellos);
  const bool whole_job = hellos[0].world == team.size;
  note_job(whole_job ? hellos[0].process : 0, team.size);
  team.wait_policy =
      wait_policy(team, team.spec.oversubscribed[static_cast<std::size_t>(team.rank)]);
  team.may_overlap = may_overlap(team, hellos);
  team.state = Team::State::together;
}

}  // namespace sumac
