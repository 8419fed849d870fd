// SPDX-License-Identifier: BSD-3-Clause
#include "rules/choice_table.h"

#include <algorithm>
#include <optional>

#include "rules/forced.h"
#include "rules/rules.h"
#include "transport/shm/layout.h"

namespace sumac {
namespace {

bool fits(Room wanted, const Capabilities& capabilities) {
  switch (wanted) {
    case Room::any:
      return true;
    case Room::own:
      return !capabilities.oversubscribed;
    case Room::shared:
      return capabilities.oversubscribed;
    case Room::spare:
      return capabilities.spare;
  }
  return false;
}

bool holds(const Rule& rule, const Capabilities& capabilities) {
  return rule.over == capabilities.over &&
         rule.ranks.holds(static_cast<std::uint64_t>(capabilities.ranks)) &&
         rule.nodes.holds(static_cast<std::uint64_t>(capabilities.nodes)) &&
         fits(rule.room, capabilities) &&
         (rule.family == Family::any || rule.family == capabilities.family) &&
         (rule.handover == Distance::unknown || rule.handover == capabilities.measured.distance) &&
         (rule.attach == Attach::unknown || rule.attach == capabilities.measured.attach);
}

// These are the size ranges of one collective. A range painted first is not painted over.
class SizeRanges {
 public:
  // Returns false if this would need too many ranges.
  bool paint(Span span, const Choice& choice, std::int32_t rule) {
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
    if (painted.size() > ChoiceTable::kMostRanges) return false;
    pieces_ = std::move(painted);
    return true;
  }

  void store(ChoiceRange* ranges) const {
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

bool is_tree_in_memory(const AlgorithmInfo& info) {
  return info.needs == Needs::slots && info.tuned == Tuned::radix;
}

// Returns what a shipped rule's choice becomes by SUMAC_NODE_RADIX. A tree takes the place of an
// algorithm that goes through lines and slots; nothing is left if the choice is a tree and none is
// wanted.
std::optional<Choice> with_radix(const Choice& choice, std::uint16_t radix,
                                 const Capabilities& capabilities) {
  if (radix == 0 || choice.algorithm == Algorithm::native) return choice;
  const AlgorithmInfo& info = info_of(choice.algorithm);
  if (radix == 1 && is_tree_in_memory(info)) return std::nullopt;
  if (radix == 1) return choice;
  if (info.needs != Needs::lines && info.needs != Needs::slots) return choice;
  for (const Algorithm other : kAllAlgorithms) {
    if (info_of(other).collective != info.collective) continue;
    if (!is_tree_in_memory(info_of(other)) || why_not(other, capabilities)) continue;
    Choice tree = default_choice(other);
    tree.radix = radix;
    return tree;
  }
  return choice;
}

bool keeps_order(const AlgorithmInfo& info) {
  return info.order == Order::rank || info.order == Order::none;
}

// Returns why a rule may not leave calls of the collective to the MPI; null if it may.
const char* why_not_native(Collective collective, const Capabilities& capabilities) {
  if (capabilities.within_levels) return "a part of a call cannot be left to the MPI";
  if (capabilities.in_rank_order && info_of(collective).reduces) {
    return "SUMAC_REPRODUCIBLE asks for the order of ranks, and the MPI has one of its own";
  }
  return nullptr;
}

// Paints a rule. Returns null, or why the rule cannot serve such ranks and is left out.
const char* apply(const Rule& rule, const Choice& choice, const Capabilities& capabilities,
                  std::int32_t index, SizeRanges& ranges) {
  const Algorithm algorithm = choice.algorithm;
  if (!holds(rule, capabilities)) return nullptr;
  const char* why = algorithm == Algorithm::native ? why_not_native(rule.collective, capabilities)
                                                   : why_not(algorithm, capabilities);
  if (why) return why;
  return ranges.paint(rule.bytes, choice, index) ? nullptr
                                                 : "one range of bytes too many is needed";
}

}  // namespace

Choice without_single_copy(Choice choice) {
  if (choice.algorithm == Algorithm::native) return choice;
  const AlgorithmInfo& info = info_of(choice.algorithm);
  if (info.needs != Needs::single_copy && info.needs != Needs::maps) return choice;
  for (const Algorithm other : kAllAlgorithms) {
    const bool serves = info_of(other).collective == info.collective;
    if (serves && info_of(other).needs == Needs::slots) choice.algorithm = other;
  }
  return choice;
}

std::uint64_t classes_in_place(const ChoiceTable& table, Collective collective) {
  return classes_where(table, collective, [](const ChoiceRange& range) {
    const Algorithm algorithm = range.choice.algorithm;
    return algorithm != Algorithm::native && info_of(algorithm).needs == Needs::maps;
  });
}

std::size_t most_bytes(Algorithm algorithm) {
  const bool lines = algorithm != Algorithm::native && info_of(algorithm).needs == Needs::lines;
  return lines ? kLinesData : SIZE_MAX;
}

bool may_replace(const Choice& chosen, const Choice& other, std::size_t bytes) {
  if (chosen.algorithm == Algorithm::native || other.algorithm == Algorithm::native) return false;
  const AlgorithmInfo &from = info_of(chosen.algorithm), &to = info_of(other.algorithm);
  const bool early = info_of(to.collective).has_root && bytes <= kMostEarly;
  if (early && !to.early) return false;
  return chosen.algorithm != other.algorithm && from.collective == to.collective &&
         from.order == to.order && keeps_order(to) && bytes <= most_bytes(other.algorithm);
}

std::vector<Choice> next_choices(const RuleSet& first, const Capabilities& capabilities,
                                 Collective collective, std::size_t bytes, const Choice& chosen,
                                 std::size_t most) {
  std::vector<Choice> next;
  const auto is_new = [&](Algorithm algorithm) {
    return std::none_of(next.begin(), next.end(),
                        [&](const Choice& choice) { return choice.algorithm == algorithm; });
  };
  for (const RuleSet* set : {&first, &shipped_rules()}) {
    for (const Rule& rule : set->rules) {
      if (next.size() == most) return next;
      if (rule.collective != collective || !holds(rule, capabilities)) continue;
      if (!rule.bytes.holds(bytes) || !may_replace(chosen, rule.choice, bytes)) continue;
      const Algorithm algorithm = rule.choice.algorithm;
      if (info_of(algorithm).needs == Needs::maps || why_not(algorithm, capabilities)) continue;
      if (is_new(algorithm)) next.push_back(rule.choice);
    }
  }
  return next;
}

const char* why_not(Algorithm algorithm, const Capabilities& capabilities) {
  const AlgorithmInfo& info = info_of(algorithm);
  const Over over = over_of(info.needs);
  if (over != capabilities.over) {
    if (over == Over::p2p) {
      return "it is for messages between groups of ranks, and these share memory";
    }
    if (over == Over::levels) {
      return "it is for a hierarchy of groups, and these ranks are one group that shares memory";
    }
    return "it is for ranks that share memory";
  }
  if (capabilities.in_rank_order && !keeps_order(info)) {
    return "it does not fold in the order of ranks, as SUMAC_REPRODUCIBLE asks";
  }
  if (info.needs == Needs::levels_one_group && !capabilities.one_group) {
    return "it needs all ranks in one group that sends messages, as SUMAC_REPRODUCIBLE makes it";
  }
  if (needs_single_copy(info) && capabilities.within_levels) {
    return "levels of a hierarchy have no single copy; passive is like it";
  }
  if (needs_single_copy(info) && capabilities.reach == Reach::none) {
    return "it needs cross-memory attach, which SUMAC_CMA or the system does not allow";
  }
  if (info.needs == Needs::maps && capabilities.within_levels) {
    return "levels of a hierarchy are tried in place by themselves, with SUMAC_PROMOTE";
  }
  if (info.needs == Needs::maps && capabilities.reach != Reach::maps) {
    return "it needs memory of all ranks that the others can map, which SUMAC_PROMOTE or the "
           "system does not allow";
  }
  if (info.needs == Needs::levels_equal_nodes && !capabilities.equal_nodes) {
    return "it needs two levels, nodes of as many ranks each (at most 64) and what is between them";
  }
  if (info.needs == Needs::levels_messages && !capabilities.sends) {
    return "it is for messages between nodes, and these ranks are on one";
  }
  if (is_of_all_ranks(info.needs) && !capabilities.as_many_each) {
    return "it needs several nodes of as many ranks each, two or more, and as many slow ones";
  }
  if (info.needs == Needs::levels_slow_ranks && !capabilities.has_slow) {
    return "it needs slow ranks on each node, and fast ones";
  }
  return nullptr;
}

bool eligible(Algorithm algorithm, const Capabilities& capabilities, std::size_t bytes) {
  if (algorithm == Algorithm::native) return !capabilities.within_levels;
  return !why_not(algorithm, capabilities) && bytes <= most_bytes(algorithm);
}

std::string place_of(std::int32_t rule, const RuleSet& first, const std::string& file) {
  const auto index = static_cast<std::size_t>(rule);
  const std::size_t own = first.rules.size();
  if (index < own) return file + ":" + std::to_string(first.rules[index].line);
  return "rules.toml:" + std::to_string(shipped_rules().rules[index - own].line);
}

ChoiceTable::ChoiceTable(const RuleSet& first, const Capabilities& capabilities, const char* forced,
                         std::vector<Unmet>* unmet) {
  SizeRanges ranges[kNumCollectives];
  const auto miss = [&](std::int32_t rule, Algorithm algorithm, const char* why) {
    if (unmet) unmet->push_back({rule, algorithm, why});
  };
  // If two names are for one collective, the last counts.
  const std::vector<Algorithm> names = forced_algorithms(forced);
  for (auto name = names.rbegin(); name != names.rend(); ++name) {
    if (const char* why = why_not(*name, capabilities)) {
      miss(kForced, *name, why);
    } else {
      Choice choice = default_choice(*name);
      if (is_tree_in_memory(info_of(*name)) && capabilities.node_radix > 1) {
        choice.radix = capabilities.node_radix;
      }
      ranges[static_cast<int>(info_of(*name).collective)].paint({}, choice, kForced);
    }
  }
  std::int32_t index = 0;
  for (const RuleSet* set : {&first, &shipped_rules()}) {
    for (const Rule& rule : set->rules) {
      SizeRanges& of_rule = ranges[static_cast<int>(rule.collective)];
      const bool users = set == &first;
      const auto choice =
          with_radix(rule.choice, users ? 0 : capabilities.node_radix, capabilities);
      if (choice) {
        const bool replaced = choice->algorithm != rule.choice.algorithm;
        const char* why = apply(rule, *choice, capabilities, replaced ? kByRadix : index, of_rule);
        if (why && users) miss(index, rule.choice.algorithm, why);
      }
      ++index;
    }
  }
  auto made = std::make_shared<Ranges>();
  for (int c = 0; c < kNumCollectives; ++c) ranges[c].store(made->of[c]);
  ranges_ = std::move(made);
}

}  // namespace sumac
