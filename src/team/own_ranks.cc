// SPDX-License-Identifier: BSD-3-Clause
#include "team/set_up.h"

#include <algorithm>

namespace sumac {
namespace {

// A block has several lanes, so that one mapping serves several operations.
constexpr int kLanesOfLines = 16, kLanesOfSlots = 4;
// Every MPI allows tags up to this one. The first tags belong to operations that begin in order.
constexpr int kLargestTag = 32767;

// Returns what the place must provide. A barrier uses only flags, and single copy only addresses:
// lines. In an alltoallv, rows too short for single copy go through slots, as do the edges of
// buffers in a call that may go direct.
Needs needs_of(Collective collective, const Choice& choice, bool direct) {
  const Needs needs = info_of(choice.algorithm).needs;
  if (over_of(needs) == Over::levels) return Needs::levels;
  if (direct) return Needs::slots;
  if (collective == Collective::alltoallv) return Needs::slots;
  return needs == Needs::slots && collective != Collective::barrier ? needs : Needs::lines;
}

// Returns the first place that is free on all ranks.
OwnRanks* find_free(Team& team, Needs needs, const LevelsRun* like) {
  constexpr std::size_t kBits = 64;
  std::vector<std::uint64_t> bits((team.own_ranks.size() + kBits - 1) / kBits);
  if (bits.empty()) return nullptr;
  for (std::size_t i = 0; i < team.own_ranks.size(); ++i) {
    const OwnRanks& own = *team.own_ranks[i];
    if (!own.in_use && own.needs == needs && own.like == like)
      bits[i / kBits] |= std::uint64_t{1} << i % kBits;
  }
  team.oob.all_and(bits.data(), bits.size());
  for (std::size_t i = 0; i < team.own_ranks.size(); ++i) {
    if (bits[i / kBits] >> i % kBits & 1) return team.own_ranks[i].get();
  }
  return nullptr;
}

bool add_lanes(Team& team, Needs needs) {
  const bool lines = needs == Needs::lines;
  Arena& arena = team.context.arena;
  Ticket ticket;
  if (team.rank == 0) {
    ticket = arena.offer(team.size, lines ? kLanesOfLines : kLanesOfSlots,
                         team.node.processes.data(), budget_of_own_ranks(team),
                         lines ? Slots::lines_only : Slots::full, team.context.control());
  }
  team.oob.broadcast(&ticket, sizeof ticket);
  if (ticket.offer == Offer::over_budget || ticket.offer == Offer::refused) return false;
  std::byte* block = arena.accept(ticket, team.rank);
  if (!agree(team, block ? kMapped : 0)) {
    arena.abandon(ticket);
    return false;
  }
  arena.confirm(ticket);
  team.blocks.push_back(block);
  for (int lane = 0; lane < ticket.layout.lanes; ++lane) {
    auto own = std::make_unique<OwnRanks>();
    own->needs = needs;
    own->group = ShmGroup(block, ticket.layout, team.rank, lane);
    if (!marks_calls(team)) own->group.mark_no_calls();
    if (team.spec.in_rank_order) own->group.fold_by_rank();
    team.own_ranks.push_back(std::move(own));
  }
  return true;
}

bool add_levels(Team& team, Collective collective) {
  const int first_tag = (static_cast<int>(team.own_ranks.size()) + 1) * kMostTags;
  if (first_tag > kLargestTag - kMostTags) return false;
  auto own = std::make_unique<OwnRanks>();
  own->needs = Needs::levels;
  own->like = team.levels_for[static_cast<int>(collective)];
  own->levels = make_own_levels(team, collective, first_tag);
  if (!own->levels) return false;
  team.own_ranks.push_back(std::move(own));
  return true;
}

}  // namespace

OwnRanks* acquire_own_ranks(Team& team, Collective collective, const Choice& choice, bool direct) {
  const Needs needs = needs_of(collective, choice, direct);
  // The hierarchy is null if one group is enough.
  OwnRanks* own = find_free(team, needs, team.levels_for[static_cast<int>(collective)]);
  if (!own) {
    const std::size_t before = team.own_ranks.size();
    const bool added =
        needs == Needs::levels ? add_levels(team, collective) : add_lanes(team, needs);
    if (!added) return nullptr;
    own = team.own_ranks[before].get();
  }
  own->in_use = true;
  return own;
}

}  // namespace sumac
