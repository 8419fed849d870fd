// SPDX-License-Identifier: BSD-3-Clause
// Which algorithm a call takes. Decided only from what all ranks share: the collective, the packed
// bytes, the number of ranks, and what the communicator agreed on when it was set up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/algorithms.h"

namespace sumac {

// Of the MPI below: how it sends messages decides which sizes of them are good.
enum class Family : std::uint8_t { any, openmpi, mpich };

// What the ranks of a group or communicator have agreed on.
struct Capabilities {
  int ranks = 1;
  bool single_copy = false;
  bool oversubscribed = false;  // more ranks than processors
  Over over = Over::shm;
  Family family = Family::any;  // any: not said
  // For Over::levels. multi_leader needs equal_nodes: two levels, nodes (of as many ranks, at most
  // 64) and what is between them.
  int nodes = 1;
  bool equal_nodes = false;
  // A group of a hierarchy's level: its share of a call cannot be handed to the MPI.
  bool within_levels = false;
};

// Where neither a rule nor a row says otherwise.
inline constexpr std::uint32_t kDefaultChunk = 64 << 10;

// What a rule chooses.
struct Choice {
  Algorithm algorithm = Algorithm::native;
  std::uint32_t chunk = 0;   // bytes a pipeline passes on at a time; 0 where there is none
  std::uint16_t radix = 2;   // of k-nomial trees
  bool exact_chunk = false;  // a user's rule asks for that chunk and no other

  bool operator==(const Choice&) const = default;
};

struct RuleSet;

// What is chosen up to so many bytes, and why: the index of the rule in `first` and then the
// shipped ones, or one of the two below.
struct PlanRange {
  std::size_t most = SIZE_MAX;
  Choice choice;
  std::int32_t rule = -1;
};
inline constexpr std::int32_t kNoRule = -1, kForced = -2;

// What somebody asked for and does not get: the algorithm of a rule of `first`, or, kForced, of
// SUMAC_ALGO.
struct Unmet {
  std::int32_t rule;
  Algorithm algorithm;
  const char* why;
};

// The choice for one group or communicator, made when it is set up: a few size ranges a collective.
class PlanTable {
 public:
  static constexpr int kMostRanges = 12;

  PlanTable() = default;
  // From the rules `first`, which may be empty, and then the shipped ones. `forced` as in
  // SUMAC_ALGO: "allreduce:flat_slots;bcast:slots". An algorithm that cannot run is passed over,
  // and a rule that would need one range too many is left out: `unmet`, where it is given, gets
  // them.
  PlanTable(const RuleSet& first, const Capabilities& capabilities, const char* forced,
            std::vector<Unmet>* unmet = nullptr);

  const Choice& choose(Collective collective, std::size_t bytes) const {
    return range(collective, bytes).choice;
  }
  const PlanRange& range(Collective collective, std::size_t bytes) const {
    const PlanRange* range = ranges_[static_cast<int>(collective)];
    while (bytes > range->most) ++range;
    return *range;
  }

  // Whether any call may get this algorithm.
  bool uses(Algorithm algorithm) const;

 private:
  PlanRange ranges_[kNumCollectives][kMostRanges];
};

// Why the algorithm cannot serve such a group, whatever the bytes; null where it can.
const char* why_not(Algorithm algorithm, const Capabilities& capabilities);

// The most bytes the algorithm can serve.
std::size_t most_bytes(Algorithm algorithm);

// Whether the algorithm can serve `bytes` in such a group.
bool eligible(Algorithm algorithm, const Capabilities& capabilities, std::size_t bytes);

// The same work through slots: for what each rank must fold for itself.
Choice without_single_copy(Choice choice);

}  // namespace sumac
