// SPDX-License-Identifier: BSD-3-Clause
#include "team/set_up.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "observe/log.h"
#include "progress/engine.h"
#include "team/hang_doctor.h"
#include "team/hang_doctor_page.h"
#include "team/thread_budget.h"
#include "team/warnings.h"
#include "transport/xpmem.h"

namespace sumac {
namespace {

void note_first(Team& team, const First& first) {
  team.trace_group = first.process + first.serial;
  team.traced = 0;
  team.first_process = first.process;
  team.members = first.members;
}

void note_members(Team& team, const Introduction& all) {
  team.spec = TeamSpec();
  team.spec.placement = all.placement();
  team.spec.family = team.context.family;
  team.spec.in_rank_order = team.context.options.reproducible != 0;
  team.spec.node_radix = static_cast<std::uint16_t>(team.context.options.node_radix);
  team.node = OwnNode();
  team.node.ranks = all.placement().on_node_of(team.rank);
  for (const Hello& hello : all.on_node()) team.node.processes.push_back(hello.process);
}

// Returns what this rank can do with the buffers of all others of its node.
Reach reach_own_node(Team& team, const std::vector<Hello>& node) {
  team.node.pids.assign(node.size(), 0);
  if (team.context.options.cma != 0) return Reach::none;
  std::vector<pid_t> pids;
  for (const Hello& hello : node) pids.push_back(hello.pid);
  CrossMemoryAttach memory(pids.data(), static_cast<int>(pids.size()));
  const int own = team.node.ranks.index_of(team.rank);
  bool all = true;
  for (std::size_t i = 0; i < node.size(); ++i) {
    const int place = static_cast<int>(i);
    const bool works = place == own || attach_works(memory, place, node[i].probe);
    if (works) team.node.pids[i] = node[i].pid;
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
//
// The group's next communicators are set up on a board, if threads cannot do so in another order on
// each rank.
bool share(Team& team, const Introduction& introduced, const std::vector<Hello>& node, Reach reach,
           Wishes& wishes) {
  Arena& arena = team.context.arena;
  const RankList all = RankList::first(team.size);
  Offered offered;
  const Ticket& ticket = offered.ticket;
  KnownGroups& known = team.context.groups;
  if (team.rank == 0) {
    const bool wants_board = team.identity != 0 && team.size <= Board::kMostRanks &&
                             introduced.all(Fact::one_caller) &&
                             !known.find(team.identity, team.size);
    offered.ticket =
        arena.offer(team.size, 1, team.node.processes.data(), team.context.options.shm_budget,
                    team.spec.slots_of(0), team.context.control(), wants_board);
    tell_measured(team, all, offered);
  }
  team.oob.broadcast(&offered, sizeof offered);
  if (ticket.offer == Offer::over_budget || ticket.offer == Offer::refused) {
    const bool over = ticket.offer == Offer::over_budget;
    hand_down_for_good(team, over ? Reason::budget : Reason::shared_memory);
    return false;
  }
  std::byte* block = arena.accept(ticket, team.rank);
  SeenMemory seen;
  if (reach != Reach::none) seen = SeenMemory(team.node.pids, node, team.rank);
  const std::uint64_t agreed = agree(team, (block ? kMapped : 0) | bits_of(reach) | seen.bits());
  if (!(agreed & kMapped)) {
    arena.abandon(ticket);
    hand_down_for_good(team, Reason::shared_memory);
    return false;
  }
  arena.confirm(ticket);
  if (ticket.board > 0)
    known.keep(team.identity, Board(block + ticket.board, team.size, team.rank));
  team.blocks.push_back(block);
  team.group = ShmGroup(block, ticket.layout, team.rank);
  if (!marks_calls(team)) team.group.mark_no_calls();
  if (team.spec.in_rank_order) team.group.fold_by_rank();
  team.spec.reach = reach_of(agreed);
  // Hierarchies may have found less.
  team.sees_all_memory &= sees_all(agreed);
  team.peers = seen.take(agreed);
  team.spec.measured = offered.measured;
  if (!offered.known) {
    std::vector<MeasuredGroup> groups{{team.group, all, team.peers.get()}};
    measure_groups(team, groups);
    team.spec.measured = groups[0].measured;
  }
  team.streams = team.spec.measured.streams();
  const Capabilities capabilities = team.spec.of_one_group();
  make_choices(team, capabilities);
  wishes.judge_group(team, capabilities);
  return true;
}

// Returns true if nonblocking calls end on every rank while others are anywhere in the MPI, as they
// must. In shared memory the helper thread sees to it if nothing else does.
bool may_overlap(const Team& team, const Introduction& all) {
  if (static_cast<Progressing>(team.context.options.progress) == Progressing::off) return false;
  return all.all(Fact::has_world) && (!team.sends_messages() || all.all(Fact::progresses_messages));
}

// Returns true if the team may be idle when it has ended. The messages of idle teams stay, so they
// may take at most half of what a process has.
bool may_be_idle(const Team& team, const Introduction& all) {
  return all.all(Fact::has_world) && (!team.sends_messages() || all.all(Fact::may_keep_messages));
}

// Counts an obstacle that keeps ranks of one machine from each other's memory, and logs each once.
void tell_obstacle(Obstacle obstacle) {
  static std::atomic<bool> told[kNumObstacles];
  count_obstacle(obstacle);
  if (told[static_cast<int>(obstacle)].exchange(true)) return;
  log(Level::info, "slower: %s", kObstacleTexts[static_cast<int>(obstacle)].text);
}

void tell_obstacles(const Team& team) {
  if (!team.context.shares_memory) return;
  if (team.spec.placement.shares_nodes() && team.spec.reach == Reach::none) {
    tell_obstacle(team.context.options.cma != 0 ? Obstacle::attach_off : Obstacle::attach_refused);
  }
  if (team.spec.placement.divides_machines()) tell_obstacle(Obstacle::containers);
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

SeenMemory::SeenMemory(const std::vector<pid_t>& pids, const std::vector<Hello>& members, int own)
    : pids_(pids) {
  std::vector<FileIdentity> files;
  std::vector<std::int64_t> segments;
  for (const Hello& hello : members) {
    files.push_back(hello.memory_file);
    segments.push_back(hello.segment);
  }
  const auto see = [&](AllWindows windows) -> std::unique_ptr<PeerMemory> {
    auto memory = std::make_unique<MappedMemory>(make_peer_memory(Reach::copies, pids),
                                                 std::move(windows), own);
    if (!memory->works()) return nullptr;
    return memory;
  };
  const auto place = static_cast<std::size_t>(own);
  if (files[place].descriptor >= 0) in_files_ = see(windows_on_files(pids, files, own));
  const Xpmem* const xpmem = segments[place] > 0 ? Xpmem::opened() : nullptr;
  if (xpmem) all_ = see(xpmem->windows_on(segments, own));
}

std::uint64_t SeenMemory::bits() const {
  if (pids_.empty()) return kMaps | kSeesAll;
  return (in_files_ ? kMaps : 0) | (all_ ? kSeesAll : 0);
}

std::unique_ptr<PeerMemory> SeenMemory::take(std::uint64_t agreed) {
  const Reach reach = pids_.empty() ? Reach::none : reach_of(agreed);
  if (reach == Reach::maps) return std::move(sees_all(agreed) ? all_ : in_files_);
  return make_peer_memory(reach, pids_);
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

namespace {

// Finds out who the other ranks are. Returns false, with the team handed down, if they cannot be
// served together.
bool meet_others(Team& team, Introduction& all) {
  team.reports_together = all.all(Fact::is_whole_job) && all.all(Fact::reports_all);
  tell_kept_warnings(team, all);
  Reason reason;
  const int odd = all.find_odd_rank(reason);
  if (odd >= 0) {
    note_first(team, all.first());
    if (reason == Reason::options_differ) explain_difference(team, odd);
    hand_down_for_good(team, reason);
    return false;
  }
  // From here on all ranks have the same options.
  const bool met = all.meet();
  note_first(team, all.first());
  if (!met) hand_down_for_good(team, Reason::messages);
  return met;
}

}  // namespace

void set_up_team(Team& team, const Hello& own, bool agree_only) {
  Introduction all(team, own);
  if (!meet_others(team, all)) return;
  note_members(team, all);
  learn_processors(all.on_machine(), all.own_place_on_machine());
  if (agree_only) return;
  Wishes wishes(team.context);
  const std::vector<Hello> node = all.on_node();
  team.node.watched = watch_ranks(node, own);
  const Reach reach = reach_own_node(team, node);
  if (!set_up_levels(team, all, node, reach)) return;
  if (wishes.are_any()) wishes.judge_levels(team, levels_wanted(team));
  if (!all_have_levels(team) && !share(team, all, node, reach, wishes)) return;
  tell_unmet(team, wishes);
  tell_obstacles(team);
  note_job(all.all(Fact::is_whole_job) ? all.first().process : 0, team.size);
  team.wait_policy = wait_policy(team, team.spec.placement.oversubscribed(team.rank));
  team.may_overlap = may_overlap(team, all);
  team.may_be_idle = may_be_idle(team, all);
  team.has_devices = !all.all(Fact::no_runtime);
  team.state = Team::State::together;
}

}  // namespace sumac
