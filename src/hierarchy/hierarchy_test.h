// SPDX-License-Identifier: BSD-3-Clause
// The tests of hierarchies share this file.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "hierarchy/hierarchy.h"

namespace sumac {

// Shows a hierarchy as one line: "numa 0,1 2,3 | node 0,2 | top 0,4". A star marks a leader that is
// not the first of its group.
inline std::string shown(const Hierarchy& hierarchy) {
  std::string text;
  for (const HierarchyLevel& level : hierarchy.levels) {
    if (!text.empty()) text += " | ";
    text += level.name;
    for (const Group& group : level.groups) {
      for (std::size_t i = 0; i < group.members.size(); ++i) {
        text += i ? ',' : ' ';
        text += std::to_string(group.members[i]);
        if (i && static_cast<int>(i) == group.leader) text += "*";
      }
    }
  }
  return text;
}

// Returns the hierarchy as a line, or the problem with the text or with the ranks.
inline std::string built(std::string_view text, const std::vector<Place>& places,
                         SlowDesign design = SlowDesign::basic) {
  HierarchySpec spec;
  Hierarchy hierarchy;
  std::string problem;
  if (!parse_hierarchy(text, spec, problem)) return "parse: " + problem;
  if (!build_hierarchy(spec, places, design, hierarchy, problem)) return "error: " + problem;
  return shown(hierarchy);
}

// Returns ranks on nodes given by one letter for each rank: "aabb". Capital letters are slow ranks.
inline std::vector<Place> on_nodes(std::string_view nodes) {
  std::vector<Place> places;
  for (const char node : nodes) {
    Place place;
    place.node = place.host = static_cast<std::uint64_t>(node);
    place.slow = node < 'a';
    places.push_back(place);
  }
  return places;
}

}  // namespace sumac
