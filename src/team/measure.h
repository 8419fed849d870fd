// SPDX-License-Identifier: BSD-3-Clause
// What decides how the ranks of a group that shares memory best hand data over: how far they are
// from one another, measured in some ten microseconds when the group is set up, and what a copy by
// cross-memory attach costs, in some hundred. All its ranks agree on it, so that rules may ask.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "base/measured.h"
#include "machine/line.h"
#include "transport/peer_memory.h"
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
  // And for copies, which take longer: this many times as much.
  static constexpr std::uint64_t kForCopies = 4;
};

// What was agreed on lately, by the processes of the group: of communicators that come and go, few
// are measured. Processors of virtual machines move, so nothing is kept for long. Thread-safe.
class KnownMeasures {
 public:
  static constexpr std::uint64_t kKept = 1'000'000'000;  // ns

  std::optional<Measured> find(std::uint64_t processes, std::uint64_t now = clock_ns());
  void keep(std::uint64_t processes, const Measured& measured, std::uint64_t now = clock_ns());

 private:
  struct Known {
    Measured measured;
    std::uint64_t until;
  };
  std::mutex mutex_;
  std::map<std::uint64_t, Known> known_;
};

// What the leader of a group sends to all ranks: the group's block, and what need not be measured.
// Plain bytes.
struct Offered {
  Ticket ticket;
  bool known = false;
  Measured measured;
};

// Leader: tells what it knows of the group of these ranks of the team.
void tell_measured(const Team& team, const std::vector<int>& members, Offered& offered);

// A group of the team's ranks as one of them takes part in it; of no ranks where it has none.
struct MeasuredGroup {
  ShmGroup group;
  std::vector<int> members;     // ranks of the team
  PeerMemory* peers = nullptr;  // null: without single copy
  Measured measured = {};
};

// Collective over the team: measures the groups of all ranks, who each have as many. Nothing may be
// under way in them.
void measure_groups(Team& team, std::vector<MeasuredGroup>& own);

// The distance to this rank's neighbours in the group, of which all ranks call this: unknown where
// one does not answer. `number`: the same on all ranks, another one each time.
Distance distance_of_neighbours(const ShmGroup& group, std::uint64_t number,
                                const LineClock& clock);
// What copies cost between this rank and its neighbours, likewise; the distance is left unknown.
// All is unknown where slots are too small or too few.
Measured copies_of_neighbours(const ShmGroup& group, PeerMemory& peers, std::uint64_t number,
                              const LineClock& clock);

}  // namespace sumac
