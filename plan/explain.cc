// SPDX-License-Identifier: BSD-3-Clause
#include "plan/explain.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "base/cpu.h"
#include "levels/stage_works.h"
#include "team/spec.h"
#include "team/trials.h"

namespace sumac::plan {
namespace {

Hierarchy hierarchy_of(const Options& options, const Places& places) {
  if (options.reproducible && info_of(options.collective).reduces) {
    return one_group_of(places.of_ranks);
  }
  Hierarchy hierarchy;
  HierarchySpec spec;
  std::string problem;
  const std::string_view text = hierarchy_for(options.hierarchy, name_of(options.collective));
  if (!check_hierarchies(options.hierarchy, problem) || !parse_hierarchy(text, spec, problem) ||
      !build_hierarchy(spec, places.of_ranks, options.slow_design, hierarchy, problem)) {
    throw Failure::of_problem(
        "hierarchy", "--hierarchy " + options.hierarchy + ": ", problem,
        "name levels from the smallest groups to the largest, such as numa,node");
  }
  return hierarchy;
}

using Kind = StagePlan::Kind;

CallShape shape_of(const Options& options, bool one_group) {
  const bool word = options.collective == Collective::barrier && !one_group;
  return {options.collective, word ? kBarrierWord : options.bytes};
}

// Order by the path of the data: towards the leaders, among them, and back.
int order_of(const StagePlan& stage, std::size_t depth) {
  const int last = static_cast<int>(depth);
  if (stage.kind == Kind::bcast || stage.kind == Kind::gather) return 2 * last - stage.level;
  return stage.kind == Kind::exchange ? last : stage.level;
}

bool is_same(const Row& a, const Row& b) {
  const auto key = [](const Row& row) {
    return std::tie(row.order, row.over, row.ranks, row.taken.algorithm, row.taken.radix, row.rule,
                    row.chunk, row.chunks);
  };
  return key(a) == key(b);
}

// The groups of a level whose ranks do the same.
struct Alike {
  std::size_t level = 0;
  std::vector<const Group*> groups;
};

TeamSpec spec_of(const Options& options, const Places& places) {
  TeamSpec spec;
  std::vector<PlacedRank> ranks;
  for (const Place& place : places.of_ranks) {
    ranks.push_back({place, place.node, places.oversubscribed, places.spare});
  }
  spec.placement = Placement(ranks);
  spec.family = options.family;
  spec.node_radix = options.node_radix;
  spec.in_rank_order = options.reproducible;
  spec.measured = options.measured;
  spec.reach = options.no_attach ? Reach::none : Reach::copies;
  return spec;
}

class Explainer {
 public:
  Explainer(const Options& options, const Places& places, const RuleSet& rules)
      : options_(options),
        places_(places),
        spec_(spec_of(options, places)),
        rules_(rules),
        hierarchy_(hierarchy_of(options, places)),
        shape_(shape_of(options, is_flat(hierarchy_))),
        alike_(alike()) {}

  Explanation explain() const;

 private:
  AgreedLevels agreed_by(int rank) const;
  std::vector<Alike> alike() const;
  LevelGroup group_of(const Group& group, std::size_t level) const;
  std::vector<int> ranks_beside() const;
  Row& row(const StagePlan& stage, const Capabilities& capabilities, const LevelGroup& group,
           const CallPlan& plan, Way& way) const;
  void add(const StagePlan& stage, const LevelGroup& group, const CallPlan& plan, Way& way) const;
  void add_level(const Alike& alike, const Choice& choice, Way& way) const;
  void add_others(int rank, Workers workers, const Choice& choice, Way& way) const;
  void add_all(Workers workers, const Choice& choice, Way& way) const;
  Way way(const Choice& choice) const;
  Way in_one_group(const Capabilities& group) const;
  std::vector<Algorithm> candidates(const Capabilities& communicator,
                                    const ChoiceTable& table) const;

  const Options& options_;
  const Places& places_;
  const TeamSpec spec_;
  const RuleSet& rules_;
  const Hierarchy hierarchy_;
  const CallShape shape_;
  const std::vector<Alike> alike_;
};

// The hierarchy as one rank sees it.
AgreedLevels Explainer::agreed_by(int rank) const {
  AgreedLevels agreed;
  see_levels(spec_, hierarchy_, rank, agreed);
  for (LevelGroup& group : agreed.groups) group.measured = options_.measured;
  choose_for_levels(spec_, rules_, options_.algo.c_str(), agreed);
  return agreed;
}

// For each rank, the number of ranks that belong to the same member of the last level.
std::vector<int> Explainer::ranks_beside() const {
  const TreeOrder order = tree_order(hierarchy_, options_.ranks);
  std::vector<int> beside(static_cast<std::size_t>(order.size()));
  for (int place = 0; place < order.size(); ++place) {
    const int top = order.top_of(place);
    beside[static_cast<std::size_t>(order.ranks[place])] = order.tops[top + 1] - order.tops[top];
  }
  return beside;
}

// The group as its leader takes part in it.
LevelGroup Explainer::group_of(const Group& group, std::size_t level) const {
  return agreed_by(group.members[static_cast<std::size_t>(group.leader)]).groups[level];
}

// Groups of one kind and size have the same plan, except, in rooted collectives, groups through
// which the root's data pass and, where ranks have parts, groups whose member of the last level has
// another number of ranks.
std::vector<Alike> Explainer::alike() const {
  const bool rooted = info_of(shape_.collective).has_root;
  int of_root = shape_.root;  // the rank that represents the root in the level
  const std::vector<int> beside =
      has_parts(shape_.collective) ? ranks_beside() : std::vector<int>();
  std::vector<Alike> all;
  for (std::size_t l = 0; l < hierarchy_.levels.size(); ++l) {
    std::map<std::tuple<bool, std::size_t, bool, int>, std::size_t> known;
    int next = of_root;
    for (const Group& group : hierarchy_.levels[l].groups) {
      const std::vector<int>& members = group.members;
      const bool way = std::binary_search(members.begin(), members.end(), of_root);
      if (way) next = members[static_cast<std::size_t>(group.leader)];
      if (members.size() < 2) continue;
      const auto [found, is_new] =
          known.try_emplace({group.one_node, members.size(), rooted && way,
                             beside.empty() ? 0 : beside[static_cast<std::size_t>(members[0])]},
                            all.size());
      if (is_new) all.push_back({l, {}});
      all[found->second].groups.push_back(&group);
    }
    of_root = next;
  }
  return all;
}

Priced priced(const StagePlan& stage, const Cost& cost) {
  return {stage.algorithm, stage.radix, cost};
}

// Whether another algorithm could be chosen for a stage. Algorithms of the whole call cannot.
bool is_other(Algorithm algorithm, const StagePlan& stage) {
  if (stage.algorithm == Algorithm::native) return false;  // of a group of one rank
  const AlgorithmInfo &info = info_of(algorithm), &taken = info_of(stage.algorithm);
  return info.collective == taken.collective && algorithm != stage.algorithm &&
         over_of(taken.needs) != Over::levels;
}

// The row of groups with these properties.
Row& Explainer::row(const StagePlan& stage, const Capabilities& capabilities,
                    const LevelGroup& group, const CallPlan& plan, Way& way) const {
  Row row;
  row.level = group.name;
  row.order = order_of(stage, hierarchy_.levels.size());
  row.ranks = capabilities.ranks;
  row.over = capabilities.over;
  row.operation = operation_of(stage.kind, shape_.collective);
  row.chunk = plan.largest_piece(stage);
  row.chunks = plan.num_chunks();
  row.rule = stage.rule;
  row.taken = priced(stage, {});
  for (Row& known : way.rows) {
    if (is_same(known, row)) return known;
  }
  const auto cost_of = [&](const StagePlan& of) {
    Cost cost = price(plan, of, group, shape_).cost;
    if (places_.oversubscribed || capabilities.ranks < kFit.least_ranks) cost.work = {};
    return cost;
  };
  row.taken.cost = cost_of(stage);
  for (const Algorithm algorithm : kAllAlgorithms) {
    if (!is_other(algorithm, stage) || !eligible(algorithm, capabilities, row.chunk)) {
      continue;
    }
    StagePlan other = stage;
    other.algorithm = algorithm;
    other.radix = default_choice(algorithm).radix;
    row.others.push_back(priced(other, cost_of(other)));
  }
  way.rows.push_back(row);
  return way.rows.back();
}

// Adds what a group does in a stage.
void Explainer::add(const StagePlan& stage, const LevelGroup& group, const CallPlan& plan,
                    Way& way) const {
  const auto node = [&](int index) { return places_.of_ranks[group.members[index]].node; };
  ++row(stage, spec_.of_group(group.size, group.members[0], group.shared), group, plan, way).groups;
  if (group.shared) return;
  for (const Message& m : price(plan, stage, group, shape_).messages) {
    if (node(m.from) != node(m.to)) way.between_nodes += m.bytes;
  }
}

void Explainer::add_level(const Alike& alike, const Choice& choice, Way& way) const {
  const Group& first = *alike.groups[0];
  const AgreedLevels agreed = agreed_by(first.members[static_cast<std::size_t>(first.leader)]);
  CallPlan plan;
  plan_call(agreed, choice, shape_, plan);
  for (StagePlan stage : plan.stages) {
    const bool here = stage.workers == Workers::level;
    if (!here || stage.level != static_cast<int>(alike.level)) continue;
    for (const Group* group : alike.groups) {
      if (group != &first && stage.kind != Kind::exchange) stage.root = group->leader;
      const bool like_first = group == &first || group->one_node;
      add(stage, like_first ? agreed.groups[alike.level] : group_of(*group, alike.level), plan,
          way);
    }
  }
}

// Adds what a rank's group of this kind does. A rank without a part of the message has none.
void Explainer::add_others(int rank, Workers workers, const Choice& choice, Way& way) const {
  const AgreedLevels agreed = agreed_by(rank);
  CallPlan plan;
  plan_call(agreed, choice, shape_, plan);
  for (const StagePlan& stage : plan.stages) {
    if (stage.workers != workers) continue;
    if (workers == Workers::across && plan.largest_piece(stage) == 0) continue;
    add(stage, sumac::group_of(agreed, stage), plan, way);
  }
}

// Adds all groups of this kind: each once, as one of its ranks sees it.
void Explainer::add_all(Workers workers, const Choice& choice, Way& way) const {
  const auto add_of = [&](int rank) { add_others(rank, workers, choice, way); };
  const std::vector<std::vector<int>> nodes = ranks_of_nodes(places_.of_ranks);
  switch (workers) {
    case Workers::level:
      for (const Alike& alike : alike_) add_level(alike, choice, way);
      break;
    case Workers::all:
      add_of(0);
      break;
    case Workers::node:
      for (const std::vector<int>& node : nodes) add_of(node[0]);
      break;
    case Workers::counterparts:
      for (const int rank : hierarchy_.levels[0].groups[0].members) add_of(rank);
      break;
    case Workers::across:
      for (const int rank : nodes[0]) add_of(rank);
      break;
  }
}

// Adds the steps of stages; of groups that work at the same time, the slowest counts.
Cost cost_of_all(const std::vector<Row>& rows, std::uint64_t chunks) {
  Cost all;
  all.known = true;
  std::uint64_t slowest = 0;
  std::map<int, std::uint64_t> steps;
  for (const Row& row : rows) {
    steps[row.order] = std::max(steps[row.order], row.taken.cost.steps);
    all.known &= row.taken.cost.known;
  }
  for (const auto& [order, of_level] : steps) {
    all.steps += of_level;
    slowest = std::max(slowest, of_level);
  }
  all.steps += (chunks - 1) * slowest;
  return all;
}

Way Explainer::way(const Choice& choice) const {
  Way way;
  way.algorithm = choice.algorithm;
  if (choice.algorithm == Algorithm::native) return way;
  // The root, on whose node are all kinds of groups, is rank 0.
  CallPlan plan;
  plan_call(agreed_by(0), choice, shape_, plan);
  way.chunks = plan.num_chunks();
  way.chunk = plan.largest_chunk();
  std::set<Workers> kinds;
  for (const StagePlan& stage : plan.stages) kinds.insert(stage.workers);
  // The chunks of levels are as large as is allowed, even if the message is smaller.
  if (kinds.contains(Workers::level)) way.chunk = choice.chunk ? plan.choice.chunk : 0;
  for (const Workers workers : kinds) add_all(workers, choice, way);
  std::stable_sort(way.rows.begin(), way.rows.end(),
                   [](const Row& a, const Row& b) { return a.order < b.order; });
  way.cost = cost_of_all(way.rows, way.chunks);
  return way;
}

// A call in one group, in one chunk.
Way Explainer::in_one_group(const Capabilities& group) const {
  const ChoiceTable table(rules_, group, options_.algo.c_str());
  const ChoiceRange& range = table.range(shape_.collective, shape_.bytes);
  Way way;
  way.algorithm = range.choice.algorithm;
  if (way.algorithm == Algorithm::native) return way;
  StagePlan stage;
  stage.kind = shape_.collective == Collective::reduce  ? Kind::reduce
               : shape_.collective == Collective::bcast ? Kind::bcast
                                                        : Kind::exchange;
  stage.work = &kWholeChunks;
  stage.algorithm = way.algorithm;
  stage.radix = range.choice.radix;
  stage.rule = range.rule;
  CallPlan plan;
  plan.choice = range.choice;
  plan.chunks = {shape_.bytes, round_up(std::max(shape_.bytes, kCacheLine), kCacheLine),
                 kCacheLine};
  LevelGroup ranks;
  ranks.size = group.ranks;
  row(stage, group, ranks, plan, way).groups = 1;
  way.rows[0].level = "node";
  way.rows[0].operation = name_of(shape_.collective);
  way.cost = way.rows[0].taken.cost;
  return way;
}

// Returns what calls of this class go by, and what is tried beside it.
std::vector<Algorithm> Explainer::candidates(const Capabilities& communicator,
                                             const ChoiceTable& table) const {
  const Choice& choice = table.choose(options_.collective, options_.bytes);
  std::vector<Algorithm> all{choice.algorithm};
  const bool one_group = communicator.over == Over::shm;
  const bool wishes = !one_group && (!rules_.rules.empty() || !options_.algo.empty());
  const std::uint64_t free = free_classes(table, options_.collective, rules_.rules.size());
  const CollectiveInfo& info = info_of(options_.collective);
  const bool is_tried = choice.algorithm != Algorithm::native && info.is_sized && !wishes &&
                        !(options_.reproducible && info.reduces) &&
                        (free >> Trials::class_of(options_.bytes) & 1);
  if (!is_tried) return all;
  for (const Choice& next : next_choices(rules_, communicator, options_.collective, options_.bytes,
                                         choice, Candidates::kMostOthers)) {
    all.push_back(next.algorithm);
  }
  all.push_back(Algorithm::native);
  return all;
}

Explanation Explainer::explain() const {
  const Capabilities communicator = spec_.of_all(hierarchy_);
  const ChoiceTable table(rules_, communicator, options_.algo.c_str());
  Explanation result;
  result.over = communicator.over;
  const ChoiceRange& range = table.range(options_.collective, options_.bytes);
  result.rule = range.rule;
  result.candidates = candidates(communicator, table);
  if (communicator.over == Over::shm) {
    result.taken = in_one_group(communicator);
    return result;
  }
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
  if (rule == kByRadix) return "radix";
  return rule < 0 ? "" : place_of(rule, rules, options.rules);
}

}  // namespace sumac::plan
