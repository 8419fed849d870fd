// SPDX-License-Identifier: BSD-3-Clause
// This file sets up the hierarchies of a team: every rank builds them from what all know, and keeps
// what concerns itself. Then they are given memory and messages. Each step is collective, and one
// agreement at the end tells whether all of it worked.
#include <algorithm>
#include <utility>

#include "base/hash.h"
#include "team/hierarchies.h"
#include "team/set_up.h"

namespace sumac {
namespace {

// A hierarchy as this rank takes part in it, while it is set up.
struct Planned {
  std::string_view text;
  std::vector<Collective> collectives;
  std::unique_ptr<Levels> levels = std::make_unique<Levels>();  // too large for small stacks
  SeenMemory seen;                     // this rank's view of its group on the lowest level
  std::shared_ptr<PeerMemory> lowest;  // how it reaches that group
  TeamMessages messages;
};

Planned planned(const Team& team, const Wanted& wanted) {
  Planned made;
  made.text = wanted.text;
  made.collectives = wanted.collectives;
  see_levels(team.spec, wanted.hierarchy, team.rank, *made.levels);
  return made;
}

bool shares(const LevelGroup& group) { return group.shared && group.size > 1; }

// Makes the memory and messages of a team's hierarchies, and keeps what worked of it on this rank.
class LevelsSetUp {
 public:
  LevelsSetUp(Team& team, std::size_t budget) : team_(team), budget_(budget) {}

  // Collective: makes blocks for all groups that share memory.
  void make_blocks(std::vector<Planned>& all);
  // Collective: makes messages. They are null if the hierarchy needs none, or if that failed.
  void make_messages(Planned& planned);
  // Collective, after everything worked: measures the groups of the hierarchies, unless everything
  // is known of them.
  void measure(std::vector<Planned>& all);
  // Agrees on what worked. If memory or messages are missing, the blocks are given back.
  std::uint64_t agree_on_all();
  // Finds what this rank sees of its group on the lowest level, and notes it.
  void see_lowest(Planned& planned, const std::vector<Hello>& node);
  // Returns the hierarchy in use, after everything worked. Messages have tags from `first_tag` on.
  std::unique_ptr<LevelsRun> make_run(Planned& planned, std::shared_ptr<PeerMemory> lowest,
                                      std::shared_ptr<Messages> messages, int first_tag);

  void note_reach(Reach reach) {
    worked_ |= bits_of(reach);
    if (reach != Reach::none) worked_ |= seen_;
  }

  static constexpr std::uint64_t kMust = kMapped | kMessages;

 private:
  Offered offer(const LevelGroup& group);
  void accept(const Offered& offered, LevelGroup& group);
  // Takes messages that an earlier team of the same ranks had, if they are idle on all of them.
  // Rank 0 takes them first: no other team can then want them, whichever thread sets it up.
  TeamMessages take_idle_messages(std::uint64_t purpose);

  Team& team_;
  const std::size_t budget_;
  std::uint64_t seen_ = kMaps | kSeesAll;  // bits of all lowest groups that this rank is in
  std::vector<Ticket> tickets_;            // tickets of the blocks that this rank has accepted
  std::uint64_t worked_ = kMust | kInBudget | kMeasured;
};

Offered LevelsSetUp::offer(const LevelGroup& group) {
  const std::vector<std::uint64_t> members = team_.node.of(team_.node.processes, group.members);
  Offered offered;
  offered.ticket =
      team_.context.arena.offer(group.size, 2, members.data(), budget_,
                                team_.spec.slots_of(group.members[0]), team_.context.control());
  tell_measured(team_, group.members, offered);
  if (offered.ticket.offer == Offer::over_budget) worked_ &= ~kInBudget;
  if (!offered.known) worked_ &= ~kMeasured;
  return offered;
}

void LevelsSetUp::accept(const Offered& offered, LevelGroup& group) {
  const Ticket& ticket = offered.ticket;
  group.measured = offered.measured;
  group.block = team_.context.arena.accept(ticket, group.rank);
  if (ticket.id) tickets_.push_back(ticket);
  if (!group.block) {
    worked_ &= ~kMapped;
    return;
  }
  group.up = ShmGroup(group.block, ticket.layout, group.rank, 0);
  group.down = ShmGroup(group.block, ticket.layout, group.rank, 1);
}

// The leaders' offers for all groups of a node go to the ranks of the node at once.
void LevelsSetUp::make_blocks(std::vector<Planned>& all) {
  if (!team_.context.shares_memory) return;
  std::vector<Offered> own;  // one for each level of all hierarchies
  for (Planned& planned : all) {
    for (std::size_t l = 0; l < planned.levels->depth; ++l) {
      const std::vector<LevelGroup>& groups = planned.levels->groups;
      const bool leads =
          l < groups.size() && shares(groups[l]) && groups[l].rank == groups[l].leader;
      own.push_back(leads ? offer(groups[l]) : Offered());
    }
  }
  if (own.empty()) return;
  const RankList& node = team_.node.ranks;
  std::vector<Offered> of_node(own.size() * static_cast<std::size_t>(node.size()));
  if (!gather_among(team_, node, own.data(), of_node.data(), own.size() * sizeof(Offered))) {
    worked_ &= ~kMessages;
    for (const Offered& each : own) {
      if (each.ticket.id) tickets_.push_back(each.ticket);  // to be given back
    }
    return;
  }
  std::size_t first = 0;  // number of the hierarchy's first level
  for (Planned& planned : all) {
    for (std::size_t l = 0; l < planned.levels->groups.size(); ++l) {
      LevelGroup& group = planned.levels->groups[l];
      if (!shares(group)) continue;
      const auto leader = static_cast<std::size_t>(node.index_of(group.members[group.leader]));
      accept(of_node[leader * own.size() + first + l], group);
    }
    first += planned.levels->depth;
  }
}

void LevelsSetUp::measure(std::vector<Planned>& all) {
  std::vector<MeasuredGroup> measured;  // for all levels; no ranks if this rank has no block
  for (const Planned& planned : all) {
    for (std::size_t l = 0; l < planned.levels->depth; ++l) {
      MeasuredGroup& each = measured.emplace_back();
      const std::vector<LevelGroup>& groups = planned.levels->groups;
      if (l >= groups.size() || !groups[l].block) continue;
      const bool reaches = l == 0 && team_.spec.reach != Reach::none;
      each = {groups[l].up, groups[l].members, reaches ? planned.lowest.get() : nullptr};
    }
  }
  measure_groups(team_, measured);
  std::size_t first = 0;
  for (Planned& planned : all) {
    std::vector<LevelGroup>& groups = planned.levels->groups;
    for (std::size_t l = 0; l < groups.size(); ++l) {
      groups[l].measured = measured[first + l].measured;
    }
    first += planned.levels->depth;
  }
}

TeamMessages LevelsSetUp::take_idle_messages(std::uint64_t purpose) {
  IdleMessages& idle = team_.context.idle;
  TeamMessages taken;
  if (team_.rank == 0) taken = idle.take_for(purpose);
  std::uint64_t id = taken.id;
  team_.oob.broadcast(&id, sizeof id);
  if (id == 0) return {};
  if (team_.rank != 0) taken = idle.take(id);
  if (agree(team_, taken.id == id)) return taken;
  if (taken.id == id) idle.keep(std::move(taken));
  return {};
}

void LevelsSetUp::make_messages(Planned& planned) {
  if (!planned.levels->whole_group.sends) return;
  const std::uint64_t purpose = hash_text(planned.text, team_.members);
  TeamMessages& made = planned.messages;
  made = take_idle_messages(purpose);
  if (made.messages) return;
  if (!team_.oob.make_messages(made.messages)) worked_ &= ~kMessages;
  // The number is unique: each team takes a number of its own and has each hierarchy once.
  const std::uint64_t id = hash_text(planned.text, team_.trace_group);
  made.purpose = purpose;
  made.id = id ? id : 1;
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

void LevelsSetUp::see_lowest(Planned& planned, const std::vector<Hello>& node) {
  const LevelGroup& lowest = planned.levels->groups[0];
  if (!shares(lowest)) return;
  const std::vector<pid_t> pids = team_.node.of(team_.node.pids, lowest.members);
  planned.seen = SeenMemory(pids, team_.node.of(node, lowest.members), lowest.rank);
  seen_ &= planned.seen.bits();
}

std::unique_ptr<LevelsRun> LevelsSetUp::make_run(Planned& planned,
                                                 std::shared_ptr<PeerMemory> lowest,
                                                 std::shared_ptr<Messages> messages,
                                                 int first_tag) {
  Levels& own = *planned.levels;
  for (const LevelGroup& level : own.groups) {
    if (level.block) team_.blocks.push_back(level.block);
  }
  if (team_.spec.reach != Reach::none) own.lowest = std::move(lowest);
  choose_for_levels(team_.spec, team_.context.rules, team_.context.options.algo, own);
  own.messages = std::move(messages);
  own.first_tag = first_tag;
  own.marks_calls = marks_calls(team_);
  return std::make_unique<LevelsRun>(std::move(own));
}

// Builds the hierarchies that all ranks want, and keeps this rank's part of them.
std::vector<Planned> plan_levels(const Team& team, bool is_whole_job) {
  std::vector<Wanted> wanted = wanted_hierarchies(team);
  if (is_whole_job) tell_if_flat(team, wanted);
  std::vector<Planned> all;
  for (const Wanted& each : wanted) {
    if (!is_flat(each.hierarchy)) all.push_back(planned(team, each));
  }
  return all;
}

bool sends(const Planned& planned) { return planned.levels->whole_group.sends; }

}  // namespace

bool set_up_levels(Team& team, const Introduction& introduced, const std::vector<Hello>& node,
                   Reach reach) {
  std::vector<Planned> all = plan_levels(team, introduced.all(Fact::is_whole_job));
  // The MPI may run out of communicators for messages between these ranks.
  if (!introduced.all(Fact::may_make_messages) && std::any_of(all.begin(), all.end(), sends)) {
    hand_down_for_good(team, Reason::messages);
    return false;
  }
  LevelsSetUp set_up(team, team.context.options.shm_budget);
  set_up.make_blocks(all);
  for (Planned& planned : all) {
    set_up.make_messages(planned);
    if (reach != Reach::none) set_up.see_lowest(planned, node);
  }
  set_up.note_reach(reach);
  const std::uint64_t agreed = set_up.agree_on_all();
  if ((agreed & LevelsSetUp::kMust) != LevelsSetUp::kMust) {
    hand_down_for_good(team, (agreed & kInBudget) == 0 ? Reason::budget
                             : (agreed & kMapped) == 0 ? Reason::shared_memory
                                                       : Reason::messages);
    return false;
  }
  team.spec.reach = reach_of(agreed);
  team.sees_all_memory = sees_all(agreed);
  for (Planned& planned : all) planned.lowest = planned.seen.take(agreed);
  if (team.spec.reach == Reach::maps && !all.empty()) {
    team.direct_tries = std::make_unique<DirectTries>(ChoiceTable());
  }
  if (!(agreed & kMeasured)) set_up.measure(all);
  for (Planned& planned : all) {
    team.levels.push_back(
        set_up.make_run(planned, std::move(planned.lowest), planned.messages.messages, 0));
    if (planned.messages.messages) team.messages.push_back(std::move(planned.messages));
    for (const Collective collective : planned.collectives) {
      team.levels_for[static_cast<int>(collective)] = team.levels.back().get();
    }
  }
  return true;
}

std::unique_ptr<LevelsRun> make_own_levels(Team& team, Collective collective, int first_tag) {
  std::vector<Planned> one;
  for (const Wanted& each : wanted_hierarchies(team)) {
    const std::vector<Collective>& its = each.collectives;
    const bool wanted = std::find(its.begin(), its.end(), collective) != its.end();
    if (wanted) one.push_back(planned(team, each));
  }
  LevelsSetUp set_up(team, budget_of_own_ranks(team));
  set_up.make_blocks(one);
  const std::uint64_t agreed = set_up.agree_on_all();
  if ((agreed & LevelsSetUp::kMust) != LevelsSetUp::kMust) return nullptr;
  // The choices are those of the team's other calls, whatever a line takes by now.
  const LevelsRun* shared = team.levels_for[static_cast<int>(collective)];
  std::vector<LevelGroup>& groups = one[0].levels->groups;
  for (std::size_t l = 0; l < groups.size(); ++l) {
    groups[l].measured = shared->agreed().groups[l].measured;
  }
  return set_up.make_run(one[0], shared->lowest(), shared->shared_messages(), first_tag);
}

}  // namespace sumac
