// SPDX-License-Identifier: BSD-3-Clause
#include "team/measure.h"

#include "base/hash.h"
#include "team/introduction.h"
#include "transport/shm/copy_times.h"

namespace sumac {
namespace {

std::uint64_t processes_of(const Team& team, const RankList& members) {
  std::uint64_t hash = SUMAC_HASH_START;
  for (const std::uint64_t process : team.node.of(team.node.processes, members)) {
    hash = hash_value(process, hash);
  }
  return hash;
}

// Where ranks share processors, a line takes two changes of context there and back.
bool can_be_measured(const Team& team, const RankList& members) {
  return members.size() > 1 && !team.spec.placement.oversubscribed(members[0]);
}

// A rank writes these cells in its own payload, which holds nothing before the first operation: one
// for the trips to its right neighbour, and one for those of its left one.
struct Cells {
  LineCell to_right, to_left;
};

Cells& cells_of(const ShmGroup& group, int rank) {
  return *reinterpret_cast<Cells*>(group.payloads(rank));
}

struct Peer {
  PeerMemory* memory;
  int rank;
};
bool read_from(const void* peer, std::uintptr_t address, void* to, std::size_t bytes) {
  const Peer& from = *static_cast<const Peer*>(peer);
  return from.memory->read(from.rank, address, to, bytes);
}

// Returns the cells behind them, for copies with either neighbour, if payloads can hold a piece of
// the copied data.
CopyCells* copy_cells_of(const ShmGroup& group, int rank) {
  return reinterpret_cast<CopyCells*>(&cells_of(group, rank) + 1);
}
static_assert(sizeof(Cells) + sizeof(CopyCells) <= kCopyPiece);

}  // namespace

std::optional<Measured> KnownMeasures::find(std::uint64_t processes, std::uint64_t now) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = known_.find(processes);
  if (found == known_.end() || now > found->second.until) return std::nullopt;
  return found->second.measured;
}

void KnownMeasures::keep(std::uint64_t processes, const Measured& measured, std::uint64_t now) {
  constexpr std::size_t kMost = 256;
  const std::lock_guard<std::mutex> lock(mutex_);
  if (known_.size() >= kMost) known_.clear();
  known_[processes] = {measured, now + kKept};
}

void tell_measured(const Team& team, const RankList& members, Offered& offered) {
  offered.known = !can_be_measured(team, members);
  if (offered.known) return;
  const auto known = team.context.measures.find(processes_of(team, members));
  offered.known = known.has_value();
  offered.measured = known.value_or(Measured());
}

// Pairs of neighbours all measure at once: first those whose left rank is even, then the others. A
// chain of neighbours suffices: if two ranks are far from each other, some neighbours are.
Distance distance_of_neighbours(const ShmGroup& group, std::uint64_t number,
                                const LineClock& clock) {
  if (group.slot_bytes() < sizeof(Cells)) return Distance::unknown;
  const LineTiming timing{clock_ns() + clock.patience, clock.now};
  const int rank = group.rank();
  Distance distance = Distance::sibling;
  for (const int turn : {0, 1}) {
    const bool sends = rank % 2 == turn;
    const int other = sends ? rank + 1 : rank - 1;
    if (other < 0 || other == group.size()) continue;
    Cells &own = cells_of(group, rank), &others = cells_of(group, other);
    if (sends) {
      const double ns = send_line(own.to_right, others.to_left, number, timing);
      if (ns < 0) return Distance::unknown;
      distance = farther(distance, distance_of(ns));
    } else if (!return_line(others.to_right, own.to_left, number, timing.deadline_ns)) {
      return Distance::unknown;
    }
  }
  return distance;
}

Measured copies_of_neighbours(const ShmGroup& group, PeerMemory& peers, std::uint64_t number,
                              const LineClock& clock) {
  if (group.slot_bytes() < kCopyPiece || group.ring() <= kCopyPieces) return {};
  const LineTiming timing{clock_ns() + LineClock::kForCopies * clock.patience, clock.now};
  const int rank = group.rank();
  Attach attach = Attach::fast;
  Stores stores = Stores::cached;
  for (const int turn : {0, 1}) {
    const bool writes = rank % 2 == turn;
    const int other = writes ? rank + 1 : rank - 1;
    if (other < 0 || other == group.size()) continue;
    const int writer = writes ? rank : other, reader = writes ? other : rank;
    const Peer peer{&peers, other};
    const OtherMemory memory{read_from, &peer};
    CopyPlaces places{copy_cells_of(group, writer), copy_cells_of(group, reader), {}};
    for (std::size_t i = 0; i < kCopyPieces; ++i) {
      places.slots[i] = group.payloads(writer) + (i + 1) * group.slot_bytes();
    }
    if (writes) {
      const CopyTimes times = write_copies(places, memory, number, timing);
      attach = slower(attach, attach_of(times.slots(), times.attached));
      stores = both(stores, stores_of(times.cached, times.streamed));
    } else if (!read_copies(places, memory, number, timing.deadline_ns)) {
      return {};
    }
  }
  return {Distance::unknown, attach, stores};
}

void measure_groups(Team& team, std::vector<MeasuredGroup>& own) {
  const std::uint64_t number = hash_value(team.trace_group, SUMAC_HASH_START);
  std::vector<Measured> seen;
  for (const MeasuredGroup& each : own) {
    Measured& measured = seen.emplace_back();
    if (!can_be_measured(team, each.members)) continue;
    const LineClock& clock = team.context.clock;
    const Distance distance = distance_of_neighbours(each.group, number, clock);
    if (each.peers) measured = copies_of_neighbours(each.group, *each.peers, number, clock);
    measured.distance = distance;
  }
  // If there is no way to tell the others of the node, all of them know nothing.
  const RankList& node = team.node.ranks;
  std::vector<Measured> all(seen.size() * static_cast<std::size_t>(node.size()));
  const bool told =
      gather_among(team, node, seen.data(), all.data(), seen.size() * sizeof(Measured));
  for (std::size_t i = 0; i < own.size(); ++i) {
    if (own[i].members.empty()) continue;
    Measured& measured = own[i].measured;
    measured = told ? seen[i] : Measured();
    if (!told) continue;
    for (const int r : own[i].members) {
      const auto place = static_cast<std::size_t>(node.index_of(r));
      measured = worse(measured, all[place * seen.size() + i]);
    }
    team.context.measures.keep(processes_of(team, own[i].members), measured);
  }
}

}  // namespace sumac
