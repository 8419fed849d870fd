// SPDX-License-Identifier: BSD-3-Clause
#include "team/measure.h"

#include "base/hash.h"
#include "team/team.h"

namespace sumac {
namespace {

std::uint64_t processes_of(const Team& team, const std::vector<int>& members) {
  std::uint64_t hash = SUMAC_HASH_START;
  for (const int r : members) hash = hash_value(team.processes[static_cast<std::size_t>(r)], hash);
  return hash;
}

// Where ranks share processors a line there and back takes two changes of context.
bool can_be_measured(const Team& team, const std::vector<int>& members) {
  return members.size() > 1 && !team.spec.oversubscribed[static_cast<std::size_t>(members[0])];
}

// The cells that a rank writes, in its own payload, which holds nothing before the first operation:
// for the trips to its right neighbour, and for those of its left one.
struct Cells {
  LineCell to_right, to_left;
};

Cells& cells_of(const ShmGroup& group, int rank) {
  return *reinterpret_cast<Cells*>(group.payload(rank, 0, sizeof(Cells)));
}

}  // namespace

std::optional<Distance> KnownDistances::find(std::uint64_t processes, std::uint64_t now) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = known_.find(processes);
  if (found == known_.end() || now > found->second.until) return std::nullopt;
  return found->second.distance;
}

void KnownDistances::keep(std::uint64_t processes, Distance distance, std::uint64_t now) {
  constexpr std::size_t kMost = 256;
  const std::lock_guard<std::mutex> lock(mutex_);
  if (known_.size() >= kMost) known_.clear();
  known_[processes] = {distance, now + kKept};
}

void tell_distance(const Team& team, const std::vector<int>& members, Offered& offered) {
  offered.known = !can_be_measured(team, members);
  if (offered.known) return;
  const auto known = team.context.distances.find(processes_of(team, members));
  offered.known = known.has_value();
  offered.distance = known.value_or(Distance::unknown);
}

// Pairs of neighbours all measure at once: first those whose left rank is even, then the others. A
// chain of neighbours suffices: where two ranks are far from each other, some neighbours are.
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

void measure_distances(Team& team, std::vector<MeasuredGroup>& own) {
  const std::uint64_t number = hash_value(team.trace_group, SUMAC_HASH_START);
  std::vector<Distance> seen;
  for (const MeasuredGroup& each : own) {
    const bool can = can_be_measured(team, each.members);
    seen.push_back(can ? distance_of_neighbours(each.group, number, team.context.clock)
                       : Distance::unknown);
  }
  std::vector<Distance> all(seen.size() * static_cast<std::size_t>(team.size));
  team.oob.all_gather(seen.data(), all.data(), seen.size());
  for (std::size_t i = 0; i < own.size(); ++i) {
    if (own[i].members.empty()) continue;
    Distance& distance = own[i].distance;
    distance = seen[i];
    for (const int r : own[i].members) {
      distance = farther(distance, all[static_cast<std::size_t>(r) * seen.size() + i]);
    }
    team.context.distances.keep(processes_of(team, own[i].members), distance);
  }
}

}  // namespace sumac
