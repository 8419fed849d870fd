// SPDX-License-Identifier: BSD-3-Clause
#include "planner/plan.h"

#include <cstring>
#include <string_view>

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

bool eligible(const AlgorithmInfo& info, const Capabilities& capabilities) {
  return info.needs != Needs::single_copy || capabilities.single_copy;
}

bool fits(const Rule& rule, const Capabilities& capabilities) {
  const Room room = capabilities.oversubscribed ? Room::shared : Room::each_a_processor;
  return capabilities.ranks >= rule.least_ranks && capabilities.ranks <= rule.most_ranks &&
         (rule.room == Room::any || rule.room == room);
}

}  // namespace

const AlgorithmInfo& info_of(Algorithm algorithm) { return kInfos[static_cast<int>(algorithm)]; }

PlanTable::PlanTable(const Capabilities& capabilities, const char* forced) {
  int filled[kNumCollectives] = {};
  for (const Rule& rule : kRules) {
    const AlgorithmInfo& info = info_of(rule.algorithm);
    const int c = static_cast<int>(info.collective);
    if (!fits(rule, capabilities) || !eligible(info, capabilities) || filled[c] == kMostRanges) {
      continue;
    }
    ranges_[c][filled[c]++] = {rule.most_bytes, rule.algorithm};
  }
  for_each_forced(forced, [&](std::string_view collective, std::string_view name) {
    const int a = find_algorithm(collective, name);
    if (a >= 0 && eligible(kInfos[a], capabilities)) force(static_cast<Algorithm>(a));
    return true;
  });
}

// An algorithm for small messages is forced for those only; the rules choose for the others.
void PlanTable::force(Algorithm algorithm) {
  const AlgorithmInfo& info = info_of(algorithm);
  Range* ranges = ranges_[static_cast<int>(info.collective)];
  ranges[0] = {info.needs == Needs::lines ? kLinesData : SIZE_MAX, algorithm};
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
