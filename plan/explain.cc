// SPDX-License-Identifier: BSD-3-Clause
#include "plan/explain.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "base/align.h"
#include "transport/shm/layout.h"

namespace sumac::plan {
namespace {

Hierarchy hierarchy_of(const Options& options, const Places& places) {
  Hierarchy hierarchy;
  HierarchySpec spec;
  std::string problem;
  const std::string_view text = hierarchy_for(options.hierarchy, name_of(options.collective));
  if (!check_hierarchies(options.hierarchy, problem) || !parse_hierarchy(text, spec, problem) ||
      !build_hierarchy(spec, places.of_ranks, options.slow_design, hierarchy, problem)) {
    throw Failure("hierarchy", "--hierarchy " + options.hierarchy + ": " + problem,
                  "name levels from the smallest groups to the largest, such as numa,node");
  }
  return hierarchy;
}

// The chunks a message goes in, the last of which may be smaller.
struct Pieces {
  Pieces(std::uint64_t bytes, std::uint64_t chunk)
      : each(chunk ? std::min(bytes, chunk) : bytes),
        count(each ? (bytes + each - 1) / each : 1),
        last(bytes - (count - 1) * each) {}

  // A sum over all of them.
  template <class Of>
  std::uint64_t sum(Of of) const {
    return (count - 1) * of(each) + of(last);
  }

  std::uint64_t each, count, last;
};

class Explainer {
 public:
  Explainer(const Options& options, const Places& places, const RuleSet& rules)
      : options_(options),
        places_(places.of_ranks),
        rules_(rules),
        oversubscribed_(places.oversubscribed),
        hierarchy_(hierarchy_of(options, places)) {}

  Explanation explain() const;

 private:
  Capabilities capabilities(Over over, int ranks) const;
  Capabilities whole() const;
  bool equal_nodes() const;
  Way way(const Choice& choice) const;
  Way in_levels(Way way) const;
  Way multi_leader(Way way) const;
  Row row(const Capabilities& group, Collective operation, const Pieces& pieces) const;
  void add_rows(const HierarchyLevel& level, Collective operation, Way& way) const;
  std::uint64_t crossing(const std::vector<int>& members, int root, const Choice& choice,
                         std::uint64_t bytes) const;
  Pieces pieces_of(const Choice& choice) const { return {options_.bytes, choice.chunk}; }

  const Options& options_;
  const std::vector<Place>& places_;
  const RuleSet& rules_;
  const bool oversubscribed_;
  const Hierarchy hierarchy_;
};

Capabilities Explainer::capabilities(Over over, int ranks) const {
  Capabilities c;
  c.over = over;
  c.ranks = ranks;
  c.nodes = options_.nodes;
  c.family = options_.family;
  c.oversubscribed = oversubscribed_;
  c.within_levels = true;
  return c;
}

// Two levels: each node, all nodes of one size, and what is between them; as a back end has it.
bool Explainer::equal_nodes() const {
  if (hierarchy_.levels.size() != 2 || !options_.slow.empty()) return false;
  const std::vector<Group>& nodes = hierarchy_.levels[0].groups;
  return nodes[0].members.size() <= kSmallSlot / kCacheLine &&
         static_cast<int>(nodes.size()) == options_.nodes &&
         std::all_of(nodes.begin(), nodes.end(), [&](const Group& group) {
           return group.one_node && group.members.size() == nodes[0].members.size();
         });
}

// A communicator that is one group in shared memory needs no hierarchy.
Capabilities Explainer::whole() const {
  const bool one_group = hierarchy_.levels.size() == 1 && hierarchy_.levels[0].groups[0].one_node;
  Capabilities c = capabilities(one_group ? Over::shm : Over::levels, options_.ranks);
  c.equal_nodes = equal_nodes();
  c.within_levels = false;
  c.single_copy = !options_.no_attach;
  return c;
}

Priced priced(const Choice& choice, int ranks, const Pieces& pieces) {
  Cost cost = cost_of(choice, ranks, pieces.each);
  cost.bytes = pieces.sum([&](std::uint64_t bytes) { return cost_of(choice, ranks, bytes).bytes; });
  return {choice, cost};
}

Row Explainer::row(const Capabilities& group, Collective operation, const Pieces& pieces) const {
  const PlanTable table(rules_, group, options_.algo.c_str());
  const PlanRange& range = table.range(operation, pieces.each);
  Row row;
  row.groups = 1;
  row.ranks = group.ranks;
  row.over = group.over;
  row.operation = operation;
  row.rule = range.rule;
  row.taken = priced(range.choice, group.ranks, pieces);
  for (const Algorithm algorithm : kAllAlgorithms) {
    if (info_of(algorithm).collective != operation || algorithm == range.choice.algorithm ||
        !eligible(algorithm, group, pieces.each)) {
      continue;
    }
    row.others.push_back(priced(default_choice(algorithm), group.ranks, pieces));
  }
  return row;
}

std::uint64_t Explainer::crossing(const std::vector<int>& members, int root, const Choice& choice,
                                  std::uint64_t bytes) const {
  const auto node = [&](int index) { return places_[members[index]].node; };
  std::uint64_t sum = 0;
  for (const Message& m : messages_of(choice, static_cast<int>(members.size()), root, bytes)) {
    if (node(m.from) != node(m.to)) sum += m.bytes;
  }
  return sum;
}

// Adds a row for each kind of group: those of one rank have nothing to do.
void Explainer::add_rows(const HierarchyLevel& level, Collective operation, Way& way) const {
  const Pieces pieces = pieces_of(way.choice);
  std::map<std::tuple<bool, std::size_t>, std::size_t> rows;
  for (const Group& group : level.groups) {
    const std::size_t ranks = group.members.size();
    if (ranks < 2) continue;
    const auto [found, is_new] = rows.try_emplace({group.one_node, ranks}, way.rows.size());
    if (is_new) {
      const Over over = group.one_node ? Over::shm : Over::p2p;
      way.rows.push_back(row(capabilities(over, static_cast<int>(ranks)), operation, pieces));
      way.rows.back().level = level.name;
      way.rows.back().groups = 0;
    }
    Row& its = way.rows[found->second];
    ++its.groups;
    way.between_nodes += pieces.sum([&](std::uint64_t bytes) {
      return crossing(group.members, group.leader, its.taken.choice, bytes);
    });
  }
}

// The members of the lowest level only wait; its leaders move their data. Levels of which some
// groups do not share memory stay as they are.
void be_passive(const HierarchyLevel& level, const Choice& choice, Row& row, std::uint64_t bytes) {
  const bool shared = std::all_of(level.groups.begin(), level.groups.end(),
                                  [](const Group& group) { return group.one_node; });
  if (!shared || row.ranks < 2) return;
  row.taken.choice = choice;
  row.taken.cost.steps = 1;
  row.taken.cost.bytes = bytes * static_cast<std::uint64_t>(row.ranks - 1);
  row.rule = kNoRule;
}

// Towards the leaders, the exchange at the top, and back; the other collectives go one way. An
// all-reduce of nothing is the barrier.
Way Explainer::in_levels(Way way) const {
  const std::size_t last = hierarchy_.levels.size() - 1;
  const bool both =
      options_.collective == Collective::allreduce || options_.collective == Collective::barrier;
  const bool up = both || options_.collective == Collective::reduce;
  const bool passive = info_of(way.choice.algorithm).needs == Needs::levels_single_copy;
  for (std::size_t i = 0; up && i < last; ++i) {
    add_rows(hierarchy_.levels[i], Collective::reduce, way);
    if (i == 0 && passive)
      be_passive(hierarchy_.levels[0], way.choice, way.rows.back(), options_.bytes);
  }
  add_rows(hierarchy_.levels[last], both ? Collective::allreduce : options_.collective, way);
  for (std::size_t i = last; options_.collective != Collective::reduce && i-- > 0;) {
    add_rows(hierarchy_.levels[i], Collective::bcast, way);
    if (i == 0 && passive)
      be_passive(hierarchy_.levels[0], way.choice, way.rows.back(), options_.bytes);
  }
  return way;
}

// Rank i of every node exchanges part i of the node's sum with its likes.
Way Explainer::multi_leader(Way way) const {
  const std::vector<Group>& nodes = hierarchy_.levels[0].groups;
  const int each = static_cast<int>(nodes[0].members.size());
  const Pieces pieces = pieces_of(way.choice);
  const auto part = [each](std::uint64_t bytes) {
    return (bytes + static_cast<std::uint64_t>(each) - 1) / static_cast<std::uint64_t>(each);
  };
  Row within;
  within.level = hierarchy_.levels[0].name;
  within.groups = options_.nodes;
  within.ranks = each;
  within.rule = kNoRule;
  within.taken = priced(default_choice(Algorithm::allreduce_split_slots), each, pieces);
  within.taken.choice = way.choice;
  way.rows.push_back(within);
  const Pieces parts(pieces.sum(part), part(pieces.each));
  way.rows.push_back(row(capabilities(Over::p2p, options_.nodes), Collective::allreduce, parts));
  Row& between = way.rows.back();
  between.level = hierarchy_.levels[1].name;
  between.groups = each;
  way.between_nodes = parts.sum([&](std::uint64_t bytes) {
    std::uint64_t sum = 0;
    for (const Message& m : messages_of(between.taken.choice, options_.nodes, 0, bytes)) {
      sum += m.bytes * static_cast<std::uint64_t>(each);
    }
    return sum;
  });
  return way;
}

Way Explainer::way(const Choice& choice) const {
  Way way;
  way.choice = choice;
  if (choice.algorithm == Algorithm::native) return way;
  way.chunks = pieces_of(choice).count;
  way = choice.algorithm == Algorithm::allreduce_multi_leader ? multi_leader(std::move(way))
                                                              : in_levels(std::move(way));
  way.cost.known = true;
  std::uint64_t slowest = 0;
  // Groups of several sizes work at the same time: of those the slowest counts.
  for (std::size_t i = 0; i < way.rows.size(); ++i) {
    std::uint64_t steps = way.rows[i].taken.cost.steps;
    way.cost.known &= way.rows[i].taken.cost.known;
    for (; i + 1 < way.rows.size() && way.rows[i + 1].level == way.rows[i].level &&
           way.rows[i + 1].operation == way.rows[i].operation;
         ++i) {
      steps = std::max(steps, way.rows[i + 1].taken.cost.steps);
      way.cost.known &= way.rows[i + 1].taken.cost.known;
    }
    way.cost.steps += steps;
    slowest = std::max(slowest, steps);
  }
  way.cost.steps += (way.chunks - 1) * slowest;
  return way;
}

Explanation Explainer::explain() const {
  const Capabilities communicator = whole();
  Explanation result;
  result.over = communicator.over;
  if (communicator.over == Over::shm) {
    Row only = row(communicator, options_.collective, {options_.bytes, 0});
    only.level = "node";
    result.rule = only.rule;
    result.taken.choice = only.taken.choice;
    result.taken.cost = only.taken.cost;
    if (only.taken.choice.algorithm != Algorithm::native) result.taken.rows.push_back(only);
    return result;
  }
  const PlanTable table(rules_, communicator, options_.algo.c_str());
  const PlanRange& range = table.range(options_.collective, options_.bytes);
  result.rule = range.rule;
  result.taken = way(range.choice);
  for (const Algorithm algorithm : kAllAlgorithms) {
    if (info_of(algorithm).collective == options_.collective &&
        algorithm != range.choice.algorithm && eligible(algorithm, communicator, options_.bytes)) {
      result.others.push_back(way(default_choice(algorithm)));
    }
  }
  return result;
}

}  // namespace

Explanation explain(const Options& options, const Places& places, const RuleSet& rules) {
  return Explainer(options, places, rules).explain();
}

std::string rule_name(std::int32_t rule, const RuleSet& rules, const Options& options) {
  if (rule == kForced) return "forced";
  if (rule < 0) return "";
  const auto index = static_cast<std::size_t>(rule);
  const std::size_t own = rules.rules.size();
  if (index < own) return options.rules + ":" + std::to_string(rules.rules[index].line);
  return "rules.toml:" + std::to_string(shipped_rules().rules[index - own].line);
}

}  // namespace sumac::plan
