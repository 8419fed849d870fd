// SPDX-License-Identifier: BSD-3-Clause
// Two measurements decide how the ranks of a group that shares memory best hand data over: how far
// they are from one another, measured in some ten microseconds when the group is set up, and what a
// copy by cross-memory attach costs, in some hundred. All its ranks agree on the results, so that
// rules may ask for them.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "base/measured.h"
#include "base/rank_list.h"
#include "machine/line.h"
#include "transport/peer_memory.h"
#include "transport/shm/arena.h"
#include "transport/shm/group.h"

namespace sumac {

struct Team;

// This says how groups are measured. Tests have a clock of their own.
struct LineClock {
  std::uint64_t (*now)() = now_ns;
  // A rank waits so long (ns) in one group. Neighbours come out of the same agreement, so one that
  // takes longer has no processor now.
  std::uint64_t patience = 1'000'000;
  // Copies take longer, so a rank waits this many times as long for them.
  static constexpr std::uint64_t kForCopies = 4;
};

// This is what was agreed on lately, by the processes of the group, so that few of the
// communicators that come and go are measured. Processors of virtual machines move, so nothing is
// kept for long. Thread-safe.
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

// The leader of a group sends this to all ranks: the group's block, and what need not be measured.
// It is plain bytes.
struct Offered {
  Ticket ticket;
  bool known = false;
  Measured measured;
};

// The leader calls it to tell what it knows of the group of these ranks of the team.
void tell_measured(const Team& team, const RankList& members, Offered& offered);

// This is a group of the team's ranks as one of them takes part in it. It has no ranks if that rank
// has no such group.
struct MeasuredGroup {
  ShmGroup group;
  RankList members;             // ranks of the team
  PeerMemory* peers = nullptr;  // null: no single copy
  Measured measured = {};
};

// Collective over the team: measures the groups of all ranks, each of which has the same number of
// groups. Nothing may be under way in them.
void measure_groups(Team& team, std::vector<MeasuredGroup>& own);

// Returns the distance to this rank's neighbours in the group. All ranks of the group call it. It
// is unknown if a neighbour does not answer. `number` is the same on all ranks, and another one
// each time.
Distance distance_of_neighbours(const ShmGroup& group, std::uint64_t number,
                                const LineClock& clock);
// Returns in the same way what copies cost between this rank and its neighbours; the distance is
// left unknown. Everything is unknown if slots are too small or too few.
Measured copies_of_neighbours(const ShmGroup& group, PeerMemory& peers, std::uint64_t number,
                              const LineClock& clock);

}  // namespace sumac
