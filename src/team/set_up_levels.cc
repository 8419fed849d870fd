// SPDX-License-Identifier: BSD-3-Clause
// This file sets up the hierarchies of a team: every rank builds them from what all know, then they
// are given memory and messages. Each step is collective, and one agreement at the end tells
// whether all of it worked.
#include <algorithm>
#include <utility>

#include "base/hash.h"
#include "team/hierarchies.h"
#include "team/set_up.h"

namespace sumac {
namespace {

// For each hierarchy, these are the groups that this rank takes part in.
using HierarchyGroups = std::vector<std::vector<LevelGroup>>;
using LowestPeers = std::vector<std::shared_ptr<PeerMemory>>;

// Makes the memory and messages of a team's hierarchies, and keeps what worked of it on this rank.
class LevelsSetUp {
 public:
  LevelsSetUp(Team& team, std::size_t budget) : team_(team), budget_(budget) {}

  // Collective: makes blocks for all groups of the hierarchy's levels that share memory.
  std::vector<LevelGroup> make_groups(const Hierarchy& hierarchy);
  // Collective: makes messages. They are null if the hierarchy needs none, or if that failed.
  TeamMessages make_messages(const Wanted& wanted);
  // Collective, after everything worked: measures the groups of the hierarchies, unless everything
  // is known of them. `lowest` says how the lowest groups are reached.
  void measure(const std::vector<Wanted>& wanted, const LowestPeers& lowest,
               HierarchyGroups& groups);
  // Agrees on what worked. If memory or messages are missing, the blocks are given back.
  std::uint64_t agree_on_all();
  // Returns how this rank reaches its group on the lowest level, provided that it can do `reach`
  // with the buffers of its node's ranks; null if there is no such group. Notes what it can.
  std::shared_ptr<PeerMemory> reach_lowest(const LevelGroup& lowest,
                                           const std::vector<Hello>& hellos, Reach reach);
  // Returns the hierarchy in use, after everything worked. Messages have tags from `first_tag` on.
  std::unique_ptr<LevelsRun> make_run(const Hierarchy& hierarchy, std::vector<LevelGroup> groups,
                                      std::shared_ptr<PeerMemory> lowest,
                                      std::shared_ptr<Messages> messages, int first_tag);

  void note_reach(Reach reach) { worked_ |= bits_of(std::min(reach, most_reach_)); }
  bool over_budget() const { return over_budget_; }

  static constexpr std::uint64_t kMust = kMapped | kMessages;

 private:
  void make_block(const HierarchyLevel& level, LevelGroup* own);
  // Takes messages that an earlier team of the same ranks had, if they are idle on all of them.
  TeamMessages take_idle_messages(std::uint64_t purpose);
  std::uint64_t purpose_of(const Wanted& wanted) const;

  Team& team_;
  const std::size_t budget_;
  bool over_budget_ = false, measures_ = false;
  Reach most_reach_ = Reach::maps;  // for the lowest groups that this rank is in
  std::vector<Ticket> tickets_;     // tickets of the blocks that this rank has accepted
  std::uint64_t worked_ = kMust;
};

void LevelsSetUp::make_block(const HierarchyLevel& level, LevelGroup* own) {
  Arena& arena = team_.context.arena;
  Offered offered;
  const bool shares = own && own->shared && own->size > 1;
  const bool leads = shares && own->rank == own->leader;
  if (leads) {
    std::vector<std::uint64_t> members;
    for (const int r : own->members)
      members.push_back(team_.processes[static_cast<std::size_t>(r)]);
    offered.ticket = arena.offer(own->size, 2, members.data(), budget_,
                                 team_.spec.slots_of(own->members[0]), team_.context.control());
    tell_measured(team_, own->members, offered);
  }
  std::vector<Offered> all(static_cast<std::size_t>(team_.size));
  team_.oob.all_gather(&offered, all.data(), sizeof offered);
  const auto of_leader = [&](const auto& group) -> const Offered& {
    const int leader = group.members[static_cast<std::size_t>(group.leader)];
    return all[static_cast<std::size_t>(leader)];
  };
  for (const Group& group : level.groups) {
    over_budget_ |= of_leader(group).ticket.offer == Offer::over_budget;
    measures_ |= group.one_node && group.members.size() > 1 && !of_leader(group).known;
  }
  if (!shares) return;
  const Ticket& ticket = of_leader(*own).ticket;
  own->measured = of_leader(*own).measured;
  own->block = arena.accept(ticket, own->rank);
  if (ticket.id) tickets_.push_back(ticket);
  if (!own->block) {
    worked_ &= ~kMapped;
    return;
  }
  own->up = ShmGroup(own->block, ticket.layout, own->rank, 0);
  own->down = ShmGroup(own->block, ticket.layout, own->rank, 1);
}

std::vector<LevelGroup> LevelsSetUp::make_groups(const Hierarchy& hierarchy) {
  std::vector<LevelGroup> groups =
      levels_of(hierarchy, tree_order(hierarchy, team_.size), team_.rank);
  for (std::size_t l = 0; l < hierarchy.levels.size(); ++l) {
    make_block(hierarchy.levels[l], l < groups.size() ? &groups[l] : nullptr);
  }
  return groups;
}

void LevelsSetUp::measure(const std::vector<Wanted>& wanted, const LowestPeers& lowest,
                          HierarchyGroups& groups) {
  if (!measures_) return;
  std::vector<MeasuredGroup> measured;  // for all levels; no ranks if this rank has no block
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    for (std::size_t l = 0; l < wanted[i].hierarchy.levels.size(); ++l) {
      MeasuredGroup& each = measured.emplace_back();
      if (l >= groups[i].size() || !groups[i][l].block) continue;
      const bool reaches = l == 0 && team_.spec.reach != Reach::none;
      each = {groups[i][l].up, groups[i][l].members, reaches ? lowest[i].get() : nullptr};
    }
  }
  measure_groups(team_, measured);
  std::size_t first = 0;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    for (std::size_t l = 0; l < groups[i].size(); ++l) {
      groups[i][l].measured = measured[first + l].measured;
    }
    first += wanted[i].hierarchy.levels.size();
  }
}

std::uint64_t LevelsSetUp::purpose_of(const Wanted& wanted) const {
  const std::string_view ranks(reinterpret_cast<const char*>(team_.processes.data()),
                               team_.processes.size() * sizeof team_.processes[0]);
  return hash_text(wanted.text, hash_text(ranks));
}

TeamMessages LevelsSetUp::take_idle_messages(std::uint64_t purpose) {
  std::uint64_t id = team_.rank == 0 ? team_.context.idle.find(purpose) : 0;
  team_.oob.broadcast(&id, sizeof id);
  if (id == 0 || !agree(team_, team_.context.idle.holds(id))) return {};
  return team_.context.idle.take(id);
}

TeamMessages LevelsSetUp::make_messages(const Wanted& wanted) {
  const Hierarchy& hierarchy = wanted.hierarchy;
  if (!needs_messages(hierarchy)) return {};
  const std::uint64_t purpose = purpose_of(wanted);
  TeamMessages made = take_idle_messages(purpose);
  if (made.messages) return made;
  if (!team_.oob.make_messages(made.messages)) worked_ &= ~kMessages;
  // The number is unique: each team takes a number of its own and has each hierarchy once.
  const std::uint64_t id = hash_text(wanted.text, team_.trace_group);
  made.purpose = purpose;
  made.id = id ? id : 1;
  return made;
}

std::uint64_t LevelsSetUp::agree_on_all() {
  const std::uint64_t agreed = agree(team_, worked_);
  Arena& arena = team_.context.arena;
  if ((agreed & kMust) != kMust) {
    for (const Ticket& ticket : tickets_) arena.abandon(ticket);
  } else {
    for (const Ticket& ticket : tickets_) arena.confirm(ticket);
  }
  return agreed;
}

std::shared_ptr<PeerMemory> LevelsSetUp::reach_lowest(const LevelGroup& lowest,
                                                      const std::vector<Hello>& hellos,
                                                      Reach reach) {
  if (!lowest.shared || lowest.size == 1) return nullptr;
  if (reach != Reach::none) {
    std::vector<Hello> members;
    std::vector<pid_t> pids;
    for (const int r : lowest.members) {
      members.push_back(hellos[static_cast<std::size_t>(r)]);
      pids.push_back(team_.pids[static_cast<std::size_t>(r)]);
    }
    if (auto mapped = map_all(pids, members, lowest.rank)) return mapped;
    most_reach_ = Reach::copies;
    return make_peer_memory(reach, pids);
  }
  return nullptr;
}

std::unique_ptr<LevelsRun> LevelsSetUp::make_run(const Hierarchy& hierarchy,
                                                 std::vector<LevelGroup> groups,
                                                 std::shared_ptr<PeerMemory> lowest,
                                                 std::shared_ptr<Messages> messages,
                                                 int first_tag) {
  for (const LevelGroup& level : groups) {
    if (level.block) team_.blocks.push_back(level.block);
  }
  // Both are too large for the stacks of small threads and fibers.
  const auto made = std::make_unique<Levels>();
  Levels& own = *made;
  if (team_.spec.reach != Reach::none) own.lowest = std::move(lowest);
  see_levels(team_.spec, hierarchy, team_.rank, own);
  own.groups = std::move(groups);
  choose_for_levels(team_.spec, team_.context.rules, team_.context.options.algo, own);
  own.messages = std::move(messages);
  own.first_tag = first_tag;
  own.marks_calls = marks_calls(team_);
  return std::make_unique<LevelsRun>(std::move(own));
}

// Returns true if the MPI may run out of communicators for messages between these ranks.
bool lack_messengers(const std::vector<Wanted>& wanted, const std::vector<Hello>& hellos) {
  return std::any_of(wanted.begin(), wanted.end(),
                     [](const Wanted& each) { return needs_messages(each.hierarchy); }) &&
         std::any_of(hellos.begin(), hellos.end(),
                     [](const Hello& hello) { return hello.messengers >= kMostMessengers; });
}

}  // namespace

bool set_up_levels(Team& team, const std::vector<Hello>& hellos, Reach reach, Wishes& wishes) {
  std::vector<Wanted> all = wanted_hierarchies(team);
  if (hellos[0].world == team.size) tell_if_flat(team, all);
  std::erase_if(all, [](const Wanted& wanted) { return is_flat(wanted.hierarchy); });
  if (lack_messengers(all, hellos)) {
    hand_down_for_good(team, Reason::messages);
    return false;
  }
  LevelsSetUp set_up(team, team.context.options.shm_budget);
  HierarchyGroups groups;
  LowestPeers lowest;
  std::vector<TeamMessages> messages;
  for (const Wanted& wanted : all) {
    groups.push_back(set_up.make_groups(wanted.hierarchy));
    messages.push_back(set_up.make_messages(wanted));
    lowest.push_back(set_up.reach_lowest(groups.back()[0], hellos, reach));
  }
  set_up.note_reach(reach == Reach::copies ? Reach::maps : reach);
  const std::uint64_t agreed = set_up.agree_on_all();
  if ((agreed & LevelsSetUp::kMust) != LevelsSetUp::kMust) {
    hand_down_for_good(team, set_up.over_budget()      ? Reason::budget
                             : (agreed & kMapped) == 0 ? Reason::shared_memory
                                                       : Reason::messages);
    return false;
  }
  team.spec.reach = reach_of(agreed);
  if (team.spec.reach == Reach::maps && !all.empty()) {
    team.direct_tries = std::make_unique<DirectTries>(ChoiceTable());
  }
  set_up.measure(all, lowest, groups);
  for (std::size_t i = 0; i < all.size(); ++i) {
    team.levels.push_back(set_up.make_run(all[i].hierarchy, std::move(groups[i]),
                                          std::move(lowest[i]), messages[i].messages, 0));
    if (messages[i].messages) team.messages.push_back(std::move(messages[i]));
    for (const Collective collective : all[i].collectives) {
      team.levels_for[static_cast<int>(collective)] = team.levels.back().get();
    }
  }
  wishes.judge_levels(team, all);
  return true;
}

std::unique_ptr<LevelsRun> make_own_levels(Team& team, Collective collective, int first_tag) {
  const std::vector<Wanted> all = wanted_hierarchies(team);
  const auto wanted = std::find_if(all.begin(), all.end(), [&](const Wanted& each) {
    const std::vector<Collective>& its = each.collectives;
    return std::find(its.begin(), its.end(), collective) != its.end();
  });
  LevelsSetUp set_up(team, budget_of_own_ranks(team));
  std::vector<LevelGroup> groups = set_up.make_groups(wanted->hierarchy);
  if ((set_up.agree_on_all() & kMapped) == 0) return nullptr;
  // The choices are those of the team's other calls, whatever a line takes by now.
  const LevelsRun* shared = team.levels_for[static_cast<int>(collective)];
  for (std::size_t l = 0; l < groups.size(); ++l) {
    groups[l].measured = shared->agreed().groups[l].measured;
  }
  return set_up.make_run(wanted->hierarchy, std::move(groups), shared->lowest(),
                         shared->shared_messages(), first_tag);
}

}  // namespace sumac
