// SPDX-License-Identifier: BSD-3-Clause
#include "team/idle_teams.h"

#include <algorithm>
#include <utility>

#include "base/hash.h"

namespace sumac {
namespace {

std::uint64_t key_of(const Team& team) {
  return team.hierarchy.empty() ? team.identity : hash_text(team.hierarchy, team.identity);
}

// Takes all blocks again. Returns how many could be taken: fewer than all if one could not.
std::size_t take_blocks(Arena& arena, const IdleTeam& idle) {
  std::size_t taken = 0;
  while (taken < idle.blocks.size() && arena.take_again(idle.blocks[taken])) ++taken;
  return taken;
}

void dissolve(const Context& context, IdleTeam& idle, std::size_t taken) {
  for (std::size_t i = 0; i < idle.blocks.size(); ++i) {
    context.arena.give_up(idle.blocks[i], i < taken);
  }
  for (TeamMessages& each : idle.set_up.messages) context.idle.keep(std::move(each));
}

}  // namespace

bool can_be_idle(const Team& team) {
  return team.state == Team::State::together && team.may_be_idle && team.identity != 0;
}

void IdleTeams::keep(Team& team) {
  if (!can_be_idle(team)) return;
  auto idle = std::make_unique<IdleTeam>();
  idle->key = key_of(team);
  idle->refused = team.refusals.agreed;
  for (const auto& run : team.levels) run->forget_operations();
  for (const auto& own : team.own_ranks) {
    if (own->levels) own->levels->forget_operations();
  }
  idle->set_up = std::move(static_cast<TeamSetUp&>(team));
  team.state = Team::State::handed_down;
  for (std::byte* block : idle->set_up.blocks) {
    idle->blocks.push_back(team.context.arena.release_idle(block));
  }
  add(team.context, std::move(idle));
}

void IdleTeams::add(const Context& context, std::unique_ptr<IdleTeam> idle) {
  const std::lock_guard<std::mutex> lock(mutex_);
  all_.push_back(std::move(idle));
  if (all_.size() <= kMost) return;
  dissolve(context, *all_.front(), 0);
  all_.erase(all_.begin());
}

void IdleTeams::put_back(const Context& context, std::unique_ptr<IdleTeam> idle) {
  for (const BlockUse& use : idle->blocks) context.arena.put_back(use);
  add(context, std::move(idle));
}

void IdleTeams::give_up_all(const Context& context) {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const auto& idle : all_) dissolve(context, *idle, 0);
  all_.clear();
}

// All ranks look for the one of the least number: once all have ended the same teams, they find the
// same.
std::unique_ptr<IdleTeam> IdleTeams::find(const Team& team, std::uint64_t state) {
  if (team.identity == 0) return nullptr;
  const std::lock_guard<std::mutex> lock(mutex_);
  const std::uint64_t key = key_of(team);
  auto least = all_.end();
  for (auto each = all_.begin(); each != all_.end(); ++each) {
    if ((*each)->key != key) continue;
    if (least == all_.end() || (*each)->number() < (*least)->number()) least = each;
  }
  if (least == all_.end()) return nullptr;
  std::unique_ptr<IdleTeam> idle = std::move(*least);
  all_.erase(least);
  const std::size_t taken = take_blocks(team.context.arena, *idle);
  if (taken == idle->blocks.size() && idle->set_up.state_of_process == state) return idle;
  dissolve(team.context, *idle, taken);
  return nullptr;
}

void IdleTeams::take_up(Team& team, std::unique_ptr<IdleTeam> idle) {
  static_cast<TeamSetUp&>(team) = std::move(idle->set_up);
  team.wait_policy.context = &team;
  team.refusals.here = team.refusals.agreed = idle->refused;
  team.state = Team::State::together;
}

void IdleTeams::give_up(const Context& context, std::unique_ptr<IdleTeam> idle) {
  dissolve(context, *idle, idle->blocks.size());
  const std::lock_guard<std::mutex> lock(mutex_);
  std::erase_if(all_, [&](const std::unique_ptr<IdleTeam>& other) {
    if (other->key != idle->key) return false;
    dissolve(context, *other, 0);
    return true;
  });
}

}  // namespace sumac
