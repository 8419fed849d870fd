// SPDX-License-Identifier: BSD-3-Clause
// The choice table says which algorithm a call takes. It decides only from what all ranks share:
// the collective, the packed bytes, the number of ranks, and what the communicator agreed on when
// it was set up.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/algorithm.h"
#include "base/measured.h"
#include "transport/peer_memory.h"

namespace sumac {

// The family of the MPI below: the way it sends messages decides which sizes of them are good.
enum class Family : std::uint8_t { any, openmpi, mpich };

// The ranks of a group or communicator have agreed on these values, on which choices depend.
struct Capabilities {
  int ranks = 1;
  Reach reach = Reach::none;    // how the ranks of a node reach one another's buffers
  bool oversubscribed = false;  // more ranks than processors
  bool spare = false;           // each rank has two processors or more, some for its threads
  Over over = Over::shm;
  Family family = Family::any;  // any: not said
  // A group that shares memory has measured this when it was set up.
  Measured measured;
  // The number of nodes of the communicator, also for a group of some of its ranks over messages.
  int nodes = 1;
  // True over levels if there are two of them: nodes (of the same number of ranks, at most 64) and
  // the level between them. multi_leader needs it.
  bool equal_nodes = false;
  // True over levels if not all ranks share memory, so they can send one another messages. flat
  // needs it.
  bool sends = false;
  // True over levels if there are several nodes, all of the same number of ranks, two or more, and
  // of the same number of slow ones. all_ranks needs it.
  bool as_many_each = false;
  // True if, besides, some ranks of each node are slow and others not. all_ranks_peers needs it.
  bool has_slow = false;
  // True over levels if there is one level, which is one group over messages. levels_one_group
  // needs it.
  bool one_group = false;
  // True for a group of a hierarchy's level: its share of a call cannot be handed to the MPI.
  bool within_levels = false;
  // SUMAC_REPRODUCIBLE: reductions must fold in the order of ranks.
  bool in_rank_order = false;
  // SUMAC_NODE_RADIX, for Over::shm: 0 leaves it to the rules, 1 means no trees, and another value
  // is the radix of trees for everything that shipped rules send through lines and slots.
  std::uint16_t node_radix = 0;

  bool operator==(const Capabilities&) const = default;
};

// The chunk size in bytes if neither a rule nor a row of the table of algorithms sets one.
inline constexpr std::uint32_t kDefaultChunk = 64 << 10;

// A rule chooses this.
struct Choice {
  Algorithm algorithm = Algorithm::native;
  std::uint32_t chunk = 0;   // bytes a pipeline passes on at a time; 0: no pipeline
  std::uint16_t radix = 2;   // radix of k-nomial trees
  bool exact_chunk = false;  // a user's rule asks for that chunk and no other

  bool operator==(const Choice&) const = default;
};

struct RuleSet;

// The choice for calls of up to `most` bytes, and its reason: the index of the rule among those of
// `first` and then the shipped ones, or one of the constants below (no rule, SUMAC_ALGO, or
// SUMAC_NODE_RADIX).
struct ChoiceRange {
  std::size_t most = SIZE_MAX;
  Choice choice;
  std::int32_t rule = -1;
};
inline constexpr std::int32_t kNoRule = -1, kForced = -2, kByRadix = -3;

// Returns where the rule of a range stands, "my.toml:12" or "rules.toml:30". `first` was read from
// `file`.
std::string place_of(std::int32_t rule, const RuleSet& first, const std::string& file);

// An algorithm that was asked for, by a rule of `first` or (kForced) by SUMAC_ALGO, and is not
// used.
struct Unmet {
  std::int32_t rule;
  Algorithm algorithm;
  const char* why;
};

// The table has the choices for one group or communicator, as a few size ranges for each
// collective. It is made when the group is set up.
class ChoiceTable {
 public:
  static constexpr int kMostRanges = 12;

  ChoiceTable() = default;
  // Makes the table from the rules `first`, which may be empty, and then the shipped ones. `forced`
  // is the text of SUMAC_ALGO: "allreduce:flat_slots;bcast:slots". An algorithm that cannot run is
  // passed over, and a rule that would need one range too many is left out; both are added to
  // `unmet`, if that is given.
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
  // The ranges take some kilobytes, which are too much for the stacks of small threads and fibers.
  struct Ranges {
    ChoiceRange of[kNumCollectives][kMostRanges];
  };
  static constexpr Ranges kAllNative{};

  std::shared_ptr<const Ranges> ranges_{std::shared_ptr<const Ranges>(), &kAllNative};
};

// A class is the sizes of the same std::bit_width(bytes): 0 bytes, then 1, 2 to 3, 4 to 7 and so
// on. No call has so many bytes that its class would be the 65th.
inline constexpr int kSizeClasses = 64;

// Returns a bit for each class in which the table has a range of the collective with wanted(range).
template <class Wanted>
std::uint64_t classes_where(const ChoiceTable& table, Collective collective, Wanted wanted) {
  const auto class_of = [](std::size_t bytes) {
    return std::min<int>(std::bit_width(bytes), kSizeClasses - 1);
  };
  std::uint64_t classes = 0;
  for (std::size_t from = 0;;) {
    const ChoiceRange& range = table.range(collective, from);
    if (wanted(range)) {
      const int last = class_of(range.most);
      classes |=
          ~std::uint64_t{0} << class_of(from) & ~std::uint64_t{0} >> (kSizeClasses - 1 - last);
    }
    if (range.most == SIZE_MAX) return classes;
    from = range.most + 1;
  }
}

// Returns a bit for each class in which the table takes an algorithm of the collective in mapped
// memory.
std::uint64_t classes_in_place(const ChoiceTable& table, Collective collective);

// With the shipped rules and in trials, calls of up to so many bytes take algorithms whose rows say
// `early`. Some programs rely on that: a rank that needs nothing from the others goes on to send a
// message that another rank receives before it makes the same call. Beyond some KiB every MPI waits
// for the receiver, too, so no program can rely on it.
inline constexpr std::size_t kMostEarly = 8 << 10;

// Returns true if a call of `bytes` bytes that was to go by `chosen` may go by `other`, and have
// the same result to the last bit.
bool may_replace(const Choice& chosen, const Choice& other, std::size_t bytes);

// Returns what the rules that follow would choose if the table's choice is `chosen`, and then if
// that is not to be either, and so on: the first `most` algorithms that may replace it and reach
// buffers as far as copies.
std::vector<Choice> next_choices(const RuleSet& first, const Capabilities& capabilities,
                                 Collective collective, std::size_t bytes, const Choice& chosen,
                                 std::size_t most);

// Returns why the algorithm cannot serve such a group, whatever the bytes; null if it can.
const char* why_not(Algorithm algorithm, const Capabilities& capabilities);

// Returns the most bytes the algorithm can serve.
std::size_t most_bytes(Algorithm algorithm);

// Returns true if the algorithm can serve `bytes` bytes in such a group.
bool eligible(Algorithm algorithm, const Capabilities& capabilities, std::size_t bytes);

// Returns the choice for the same work through slots, for ranks that must fold for themselves or
// were refused one another's memory.
Choice without_single_copy(Choice choice);

}  // namespace sumac
