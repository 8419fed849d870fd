// SPDX-License-Identifier: BSD-3-Clause
// Which algorithm a call takes. Decided only from what all ranks share: the collective, the packed
// bytes, the number of ranks, and what the communicator agreed on when it was set up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/algorithm.h"
#include "base/measured.h"
#include "transport/peer_memory.h"

namespace sumac {

// Family of the MPI below: how it sends messages decides which sizes of them are good.
enum class Family : std::uint8_t { any, openmpi, mpich };

// What the ranks of a group or communicator have agreed on, as far as choices depend on it.
struct Capabilities {
  int ranks = 1;
  Reach reach = Reach::none;    // of all ranks' buffers by all ranks of their node
  bool oversubscribed = false;  // more ranks than processors
  bool spare = false;           // two processors a rank or more: its threads have some
  Over over = Over::shm;
  Family family = Family::any;  // any: not said
  // Of a group that shares memory, when it was set up.
  Measured measured;
  // The number of nodes of the communicator, also for a group of some of its ranks over messages.
  int nodes = 1;
  // Over::levels: two levels, which are nodes (of as many ranks, at most 64) and the level between
  // them; multi_leader needs it.
  bool equal_nodes = false;
  // Over::levels: not all share memory, so ranks can send one another messages; flat needs it.
  bool sends = false;
  // Over::levels: several nodes, all of as many ranks, two or more, and as many slow ones among
  // them; all_ranks needs it.
  bool as_many_each = false;
  // And some ranks of each node are slow, others not; all_ranks_peers needs it.
  bool has_slow = false;
  // Over::levels: one level, which is one group over messages; levels_one_group needs it.
  bool one_group = false;
  // True for a group of a hierarchy's level: its share of a call cannot be handed to the MPI.
  bool within_levels = false;
  // SUMAC_REPRODUCIBLE: reductions must fold in the order of ranks.
  bool in_rank_order = false;
  // SUMAC_NODE_RADIX, for Over::shm: 0 by the rules, 1 no trees, or the radix of trees for all that
  // shipped rules send through lines and slots.
  std::uint16_t node_radix = 0;
};

// Chunk size (bytes) where neither a rule nor a row of the table of algorithms sets one.
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

// The choice for calls of up to `bytes`, and its reason: the index of the rule among those of
// `first` and then the shipped ones, or one of the constants below: no rule,
// SUMAC_ALGO, or SUMAC_NODE_RADIX.
struct ChoiceRange {
  std::size_t most = SIZE_MAX;
  Choice choice;
  std::int32_t rule = -1;
};
inline constexpr std::int32_t kNoRule = -1, kForced = -2, kByRadix = -3;

// An algorithm that was asked for and is not used: by a rule of `first`, or (kForced) by
// SUMAC_ALGO.
struct Unmet {
  std::int32_t rule;
  Algorithm algorithm;
  const char* why;
};

// The choices for one group or communicator, made when it is set up: a few size ranges for each
// collective.
class ChoiceTable {
 public:
  static constexpr int kMostRanges = 12;

  ChoiceTable() = default;
  // From the rules `first`, which may be empty, and then the shipped ones. `forced` is the text of
  // SUMAC_ALGO: "allreduce:flat_slots;bcast:slots". An algorithm that cannot run is passed over,
  // and a rule that would need one range too many is left out; both are added to `unmet`, where it
  // is given.
  ChoiceTable(const RuleSet& first, const Capabilities& capabilities, const char* forced,
              std::vector<Unmet>* unmet = nullptr);

  const Choice& choose(Collective collective, std::size_t bytes) const {
    return range(collective, bytes).choice;
  }
  const ChoiceRange& range(Collective collective, std::size_t bytes) const {
    const ChoiceRange* range = ranges_->of[static_cast<int>(collective)];
    while (bytes > range->most) ++range;
    return *range;
  }

 private:
  // Some kilobytes, which are too much for the stacks of small threads and fibers.
  struct Ranges {
    ChoiceRange of[kNumCollectives][kMostRanges];
  };
  static constexpr Ranges kAllNative{};

  std::shared_ptr<const Ranges> ranges_{std::shared_ptr<const Ranges>(), &kAllNative};
};

// By the shipped rules and in trials, a call of up to so many bytes lets those ranks go on that
// need nothing from others: the root of a broadcast, and the ranks that only give data to a reduce.
// Some programs rely on it: such a rank goes on to send a message that another rank receives before
// it makes the same call. Beyond some KiB every MPI waits for the receiver, too, so none can.
inline constexpr std::size_t kMostEarly = 8 << 10;
// True for the algorithms that do, of collectives with a root.
bool lets_go_early(Algorithm algorithm);

// True when a call of `bytes` bytes that was to go by `chosen` may go by `other`, and have the same
// result to the last bit.
bool may_replace(const Choice& chosen, const Choice& other, std::size_t bytes);

// What the rules that follow would choose where the table's choice is `chosen`: the first that may
// replace it and reaches buffers as far as copies; native where there is none.
Choice next_choice(const RuleSet& first, const Capabilities& capabilities, Collective collective,
                   std::size_t bytes, const Choice& chosen);

// Why the algorithm cannot serve such a group, whatever the bytes; null where it can.
const char* why_not(Algorithm algorithm, const Capabilities& capabilities);

// The most bytes the algorithm can serve.
std::size_t most_bytes(Algorithm algorithm);

// True when the algorithm can serve `bytes` bytes in such a group.
bool eligible(Algorithm algorithm, const Capabilities& capabilities, std::size_t bytes);

// The choice for the same work through slots, where ranks must fold for themselves or were refused
// one another's memory.
Choice without_single_copy(Choice choice);

}  // namespace sumac
