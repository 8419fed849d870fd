// SPDX-License-Identifier: BSD-3-Clause
#include "team/hierarchies.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "observe/log.h"

namespace sumac {
namespace {

// Makes all groups send messages.
void unshare(Hierarchy& hierarchy) {
  for (HierarchyLevel& level : hierarchy.levels) {
    for (Group& group : level.groups) group.one_node = false;
  }
}

// Builds the hierarchy of the text, or the automatic one if the text does not fit.
Hierarchy build(const Team& team, const std::vector<Place>& places, std::string_view text) {
  Hierarchy hierarchy;
  HierarchySpec spec, automatic;
  automatic.automatic = true;
  std::string problem;
  const auto design = static_cast<SlowDesign>(team.context.options.slow_design);
  if (parse_hierarchy(text, spec, problem) &&
      build_hierarchy(spec, places, design, hierarchy, problem)) {
    return hierarchy;
  }
  // This is said once: a hierarchy meant for all ranks need not fit those of every communicator.
  static std::atomic<bool> told;
  if (team.rank == 0 && !told.exchange(true)) {
    log(Level::warn,
        "warning[hierarchy]: %.*s does not fit a communicator of %d ranks: %s; using auto",
        static_cast<int>(text.size()), text.data(), team.size, problem.c_str());
  }
  build_hierarchy(automatic, places, design, hierarchy, problem);
  return hierarchy;
}

// This is the text of one group of all ranks, whatever the option says.
constexpr std::string_view kOneGroup = "all ranks";

}  // namespace

std::vector<Wanted> wanted_hierarchies(const Team& team) {
  std::vector<Wanted> all;
  const std::vector<Place> places = team.spec.placement.places();
  std::string_view option = team.context.options.hierarchy;
  if (!team.hierarchy.empty()) option = team.hierarchy;
  for (const CollectiveInfo& info : kCollectives) {
    const Collective collective = info.collective;
    if (!is_of_ranks(collective)) continue;
    const bool in_order = team.spec.in_rank_order && info.reduces;
    const std::string_view text = in_order ? kOneGroup : hierarchy_for(option, name_of(collective));
    auto same = std::find_if(all.begin(), all.end(),
                             [&](const Wanted& wanted) { return wanted.text == text; });
    if (same == all.end()) {
      Hierarchy built = in_order ? one_group_of(places) : build(team, places, text);
      same = all.insert(same, {text, std::move(built), {}});
      if (!team.context.shares_memory) unshare(same->hierarchy);
    }
    same->collectives.push_back(collective);
  }
  return all;
}

std::vector<Wanted> levels_wanted(const Team& team) {
  std::vector<Wanted> all = wanted_hierarchies(team);
  std::erase_if(all, [](const Wanted& wanted) { return is_flat(wanted.hierarchy); });
  return all;
}

void tell_if_flat(const Team& team, const std::vector<Wanted>& all) {
  static std::atomic<bool> told;
  for (const Wanted& wanted : all) {
    const bool asked = wanted.text != "auto" && wanted.text != "flat" && wanted.text != kOneGroup;
    if (!asked || !is_flat(wanted.hierarchy)) continue;
    if (told.exchange(true)) return;
    log(Level::warn,
        "warning[hierarchy]: %.*s does not divide the %d ranks of the job, all on one node; they "
        "are served as one group",
        static_cast<int>(wanted.text.size()), wanted.text.data(), team.size);
  }
}

}  // namespace sumac
