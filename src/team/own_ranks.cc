// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/backend/own_ranks.h"

#include <algorithm>

#include "interpose/backend/mpi_functions.h"
#include "interpose/backend/set_up.h"

namespace sumac {
namespace {

// Lanes of a block: one mapping serves several operations.
constexpr int kLanesOfLines = 16, kLanesOfSlots = 4;
// What every MPI allows. The first tags are those of operations that begin in order.
constexpr int kLargestTag = 32767;

// What the place must be good for. A barrier has flags alone, and single copy addresses: lines.
Needs needs_of(Collective collective, const Choice& choice) {
  const Needs needs = info_of(choice.algorithm).needs;
  if (over_of(needs) == Over::levels) return Needs::levels;
  return needs == Needs::slots && collective != Collective::barrier ? needs : Needs::lines;
}

// The first one that is free on all ranks.
OwnRanks* find_free(const Communicator& c, Needs needs, const LevelsRun* like) {
  constexpr std::size_t kBits = 64;
  std::vector<std::uint64_t> mine((c.own_ranks.size() + kBits - 1) / kBits), all(mine.size());
  if (mine.empty()) return nullptr;
  for (std::size_t i = 0; i < c.own_ranks.size(); ++i) {
    const OwnRanks& own = *c.own_ranks[i];
    if (!own.in_use && own.needs == needs && own.like == like)
      mine[i / kBits] |= std::uint64_t{1} << i % kBits;
  }
  mpi.Allreduce(mine.data(), all.data(), static_cast<int>(mine.size()), MPI_UINT64_T, MPI_BAND,
                c.comm);
  for (std::size_t i = 0; i < c.own_ranks.size(); ++i) {
    if (all[i / kBits] >> i % kBits & 1) return c.own_ranks[i].get();
  }
  return nullptr;
}

bool add_lanes(Communicator& c, Needs needs) {
  const bool lines = needs == Needs::lines;
  Ticket ticket;
  if (c.rank == 0) {
    ticket = arena().offer(c.size, lines ? kLanesOfLines : kLanesOfSlots, c.processes.data(),
                           budget_of_own_ranks(), lines ? Slots::lines_only : Slots::full);
  }
  mpi.Bcast(&ticket, static_cast<int>(sizeof ticket), MPI_BYTE, 0, c.comm);
  if (ticket.offer == Offer::over_budget || ticket.offer == Offer::refused) return false;
  std::byte* block = arena().accept(ticket, c.rank);
  if (!agree(c, block ? kMapped : 0)) {
    arena().abandon(ticket);
    return false;
  }
  if (c.rank == 0) arena().confirm(ticket);
  c.blocks.push_back(block);
  for (int lane = 0; lane < ticket.layout.lanes; ++lane) {
    auto own = std::make_unique<OwnRanks>();
    own->needs = needs;
    own->group = ShmGroup(block, ticket.layout, c.rank, lane);
    c.own_ranks.push_back(std::move(own));
  }
  return true;
}

bool add_levels(Communicator& c, Collective collective) {
  const int first_tag = (static_cast<int>(c.own_ranks.size()) + 1) * kMostTags;
  if (first_tag > kLargestTag - kMostTags) return false;
  auto own = std::make_unique<OwnRanks>();
  own->needs = Needs::levels;
  own->like = c.levels_for[static_cast<int>(collective)];
  own->levels = make_own_levels(c, collective, first_tag);
  if (!own->levels) return false;
  c.own_ranks.push_back(std::move(own));
  return true;
}

}  // namespace

OwnRanks* acquire_own_ranks(Communicator& c, Collective collective, const Choice& choice) {
  const Needs needs = needs_of(collective, choice);
  // Null, too, where one group is enough.
  OwnRanks* own = find_free(c, needs, c.levels_for[static_cast<int>(collective)]);
  if (!own) {
    const std::size_t before = c.own_ranks.size();
    const bool added = needs == Needs::levels ? add_levels(c, collective) : add_lanes(c, needs);
    if (!added) return nullptr;
    own = c.own_ranks[before].get();
  }
  own->in_use = true;
  return own;
}

}  // namespace sumac
