// SPDX-License-Identifier: BSD-3-Clause
// How far the ranks of a group that shares memory are from one another: measured when the group is
// set up, in some ten microseconds, and agreed on by all its ranks, so that rules may ask for it.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "base/distance.h"
#include "machine/line.h"
#include "transport/shm/arena.h"
#include "transport/shm/group.h"

namespace sumac {

struct Team;

// How groups are measured. Tests have a clock of their own.
struct LineClock {
  std::uint64_t (*now)() = now_ns;
  // Of a rank in one group (ns). Neighbours come out of the same agreement: one that takes longer
  // has no processor now.
  std::uint64_t patience = 1'000'000;
};

// What was agreed on lately, by the processes of the group: of communicators that come and go, few
// are measured. Processors of virtual machines move, so nothing is kept for long. Thread-safe.
class KnownDistances {
 public:
  static constexpr std::uint64_t kKept = 1'000'000'000;  // ns

  std::optional<Distance> find(std::uint64_t processes, std::uint64_t now = clock_ns());
  void keep(std::uint64_t processes, Distance distance, std::uint64_t now = clock_ns());

 private:
  struct Known {
    Distance distance;
    std::uint64_t until;
  };
  std::mutex mutex_;
  std::map<std::uint64_t, Known> known_;
};

// What the leader of a group sends to all ranks: the group's block, and its distance where that
// need not be measured. Plain bytes.
struct Offered {
  Ticket ticket;
  bool known = false;
  Distance distance = Distance::unknown;
};

// Leader: tells what it knows of the group of these ranks of the team.
void tell_distance(const Team& team, const std::vector<int>& members, Offered& offered);

// A group of the team's ranks as one of them takes part in it; of no ranks where it has none.
struct MeasuredGroup {
  ShmGroup group;
  std::vector<int> members;  // ranks of the team
  Distance distance = Distance::unknown;
};

// Collective over the team: measures the groups of all ranks, who each have as many, and sets their
// distances. Nothing may be under way in them.
void measure_distances(Team& team, std::vector<MeasuredGroup>& own);

// The distance to this rank's neighbours in the group, of which all ranks call this: unknown where
// one does not answer. `number`: the same on all ranks, another one each time.
Distance distance_of_neighbours(const ShmGroup& group, std::uint64_t number,
                                const LineClock& clock);

}  // namespace sumac
