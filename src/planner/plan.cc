// SPDX-License-Identifier: BSD-3-Clause
#include "planner/plan.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "observe/stats.h"
#include "planner/rules.h"
#include "transport/shm/layout.h"

namespace sumac {
namespace {

constexpr AlgorithmInfo kInfos[] = {
#define SUMAC_ALGORITHM(collective, name, need, description) \
  {#name, Collective::collective, Needs::need, description},
#include "planner/algorithms.def"
#undef SUMAC_ALGORITHM
};
static_assert(kNumAlgorithms == static_cast<int>(std::size(kInfos)));
static_assert(kNumAlgorithms <= kMostAlgorithms);

// Walks "collective:name;collective:name"; calls visit(collective, name) for each, until it returns
// false. False, too, for an item without a colon.
template <class Visit>
bool for_each_forced(const char* forced, Visit visit) {
  std::string_view rest = forced ? forced : "";
  while (!rest.empty()) {
    const std::size_t end = rest.find(';');
    const std::string_view item = rest.substr(0, end);
    rest = end == std::string_view::npos ? "" : rest.substr(end + 1);
    if (item.empty()) continue;
    const std::size_t colon = item.find(':');
    if (colon == std::string_view::npos) return false;
    if (!visit(item.substr(0, colon), item.substr(colon + 1))) return false;
  }
  return true;
}

int find_algorithm(std::string_view collective, std::string_view name) {
  for (int a = 0; a < kNumAlgorithms; ++a) {
    if (collective == name_of(kInfos[a].collective) && name == kInfos[a].name) return a;
  }
  return -1;
}

bool holds(const Rule& rule, const Capabilities& capabilities) {
  const Room room = capabilities.oversubscribed ? Room::shared : Room::own;
  return rule.over == capabilities.over &&
         rule.ranks.holds(static_cast<std::uint64_t>(capabilities.ranks)) &&
         (rule.over != Over::levels ||
          rule.nodes.holds(static_cast<std::uint64_t>(capabilities.nodes))) &&
         (rule.room == Room::any || rule.room == room) &&
         (rule.family == Family::any || rule.family == capabilities.family);
}

// The most bytes the algorithm can serve.
std::size_t most_bytes(Algorithm algorithm) {
  const bool lines = algorithm != Algorithm::native && info_of(algorithm).needs == Needs::lines;
  return lines ? kLinesData : SIZE_MAX;
}

// The ranges of one collective. What was painted first stays.
class Ranges {
 public:
  void paint(Span span, const Choice& choice, std::int32_t rule) {
    span.high = std::min<std::uint64_t>(span.high, most_bytes(choice.algorithm));
    Pieces painted;
    std::uint64_t low = 0;
    for (const Piece& piece : pieces_) {
      const std::uint64_t from = std::max(low, span.low), to = std::min(piece.most, span.high);
      if (piece.open && from <= to) {
        if (low < from) painted.push_back({from - 1, {}, kNoRule, true});
        painted.push_back({to, choice, rule, false});
        if (to < piece.most) painted.push_back({piece.most, {}, kNoRule, true});
      } else {
        painted.push_back(piece);
      }
      low = piece.most + 1;
    }
    if (painted.size() <= PlanTable::kMostRanges) pieces_ = std::move(painted);
  }

  void store(PlanRange* ranges) const {
    for (const Piece& piece : pieces_) *ranges++ = {piece.most, piece.choice, piece.rule};
  }

 private:
  struct Piece {
    std::uint64_t most;
    Choice choice;
    std::int32_t rule;
    bool open;  // not painted yet
  };
  using Pieces = std::vector<Piece>;
  Pieces pieces_{{UINT64_MAX, {}, kNoRule, true}};
};

}  // namespace

Choice without_single_copy(Choice choice) {
  if (choice.algorithm == Algorithm::allreduce_single_copy) {
    choice.algorithm = Algorithm::allreduce_split_slots;
  } else if (choice.algorithm == Algorithm::reduce_single_copy) {
    choice.algorithm = Algorithm::reduce_split_slots;
  }
  return choice;
}

bool is_passive(Algorithm algorithm) {
  return algorithm == Algorithm::allreduce_passive || algorithm == Algorithm::reduce_passive ||
         algorithm == Algorithm::bcast_passive;
}

const AlgorithmInfo& info_of(Algorithm algorithm) { return kInfos[static_cast<int>(algorithm)]; }

bool eligible(Algorithm algorithm, const Capabilities& capabilities, std::size_t bytes) {
  if (algorithm == Algorithm::native) return !capabilities.within_levels;
  const AlgorithmInfo& info = info_of(algorithm);
  return fits(info, capabilities.over) && bytes <= most_bytes(algorithm) &&
         (info.needs != Needs::single_copy || capabilities.single_copy) &&
         (algorithm != Algorithm::allreduce_multi_leader || capabilities.equal_nodes) &&
         (!is_passive(algorithm) || capabilities.single_copy);
}

PlanTable::PlanTable(const RuleSet& first, const Capabilities& capabilities, const char* forced) {
  Ranges ranges[kNumCollectives];
  std::vector<Algorithm> names;
  for_each_forced(forced, [&](std::string_view collective, std::string_view name) {
    const int a = find_algorithm(collective, name);
    if (a >= 0) names.push_back(static_cast<Algorithm>(a));
    return true;
  });
  std::reverse(names.begin(), names.end());  // of two names for one collective the last counts
  for (const Algorithm algorithm : names) {
    if (!eligible(algorithm, capabilities, 0)) continue;
    const int c = static_cast<int>(info_of(algorithm).collective);
    ranges[c].paint({}, default_choice(algorithm), kForced);
  }
  std::int32_t index = 0;
  for (const RuleSet* set : {&first, &shipped_rules()}) {
    for (const Rule& rule : set->rules) {
      if (holds(rule, capabilities) && eligible(rule.choice.algorithm, capabilities, 0)) {
        ranges[static_cast<int>(rule.collective)].paint(rule.bytes, rule.choice, index);
      }
      ++index;
    }
  }
  for (int c = 0; c < kNumCollectives; ++c) ranges[c].store(ranges_[c]);
}

bool PlanTable::uses(Algorithm algorithm) const {
  for (const auto& ranges : ranges_) {
    for (const PlanRange& range : ranges) {
      if (range.choice.algorithm == algorithm) return true;
      if (range.most == SIZE_MAX) break;
    }
  }
  return false;
}

const char* check_forced(const char* forced) {
  const char* problem = nullptr;
  const bool formed = for_each_forced(forced, [&](std::string_view c, std::string_view name) {
    if (find_algorithm(c, name) < 0) problem = "names an unknown algorithm";
    return true;
  });
  return formed ? problem : "is not of the form collective:algorithm;...";
}

}  // namespace sumac
