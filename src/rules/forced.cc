// SPDX-License-Identifier: BSD-3-Clause
#include "rules/forced.h"

#include <cstdint>
#include <string_view>

#include "base/nearest.h"
#include "base/text.h"

namespace sumac {
namespace {

struct Item {
  std::string collective, algorithm;
  bool formed;
};

std::vector<Item> items_of(const char* forced) {
  std::vector<Item> items;
  std::string_view rest = forced ? forced : "";
  while (!rest.empty()) {
    std::string_view item = take_word(rest, ';');
    if (item.empty()) continue;
    const bool formed = item.find(':') != item.npos;
    const std::string_view collective = take_word(item, ':');
    items.push_back({std::string(collective), std::string(trimmed(item)), formed});
  }
  return items;
}

// Returns Algorithm::native if there is no such algorithm.
Algorithm find_algorithm(const Item& item) {
  for (const Algorithm algorithm : kAllAlgorithms) {
    const AlgorithmInfo& info = info_of(algorithm);
    if (item.collective == name_of(info.collective) && item.algorithm == info.name) {
      return algorithm;
    }
  }
  return Algorithm::native;
}

// Returns "did you mean 'x'? " and "(known: x, y, z)".
std::string suggest(const std::string& name, const std::vector<const char*>& known) {
  std::string text;
  if (const char* near = sumac_nearest(name.c_str(), name.size(), known.data(), known.size())) {
    text = std::string("did you mean '") + near + "'? ";
  }
  text += "(known: ";
  for (std::size_t i = 0; i < known.size(); ++i) text += std::string(i ? ", " : "") + known[i];
  return text + ")";
}

std::string problem_of(const Item& item) {
  if (!item.formed) return "'" + item.collective + "' is not of the form collective:algorithm";
  std::vector<const char*> known;
  if (!find_collective(item.collective)) {
    known = collective_names(is_of_ranks);
    return "no collective '" + item.collective + "'; " + suggest(item.collective, known);
  }
  for (const AlgorithmInfo& info : kAlgorithmInfos) {
    if (item.collective == name_of(info.collective)) known.push_back(info.name);
  }
  return item.collective + " has no algorithm '" + item.algorithm + "'; " +
         suggest(item.algorithm, known);
}

}  // namespace

std::vector<Algorithm> forced_algorithms(const char* forced) {
  std::vector<Algorithm> algorithms;
  for (const Item& item : items_of(forced)) {
    const Algorithm found = find_algorithm(item);
    if (found != Algorithm::native) algorithms.push_back(found);
  }
  return algorithms;
}

bool check_forced(const char* forced, std::string& problem) {
  for (const Item& item : items_of(forced)) {
    if (item.formed && find_algorithm(item) != Algorithm::native) continue;
    problem = problem_of(item);
    return false;
  }
  return true;
}

const char* why_in_no_group(Algorithm algorithm, const std::vector<AskedGroup>& parts) {
  const AlgorithmInfo& info = info_of(algorithm);
  const char* why = "no level of the hierarchy asks for this collective";
  bool asked = false;
  for (const AskedGroup& part : parts) {
    if (part.asked != info.collective) continue;
    const char* here = why_not(algorithm, part.capabilities);
    if (!here) return nullptr;
    // The reason is that of the part that is nearest to what the algorithm needs.
    if (!asked || part.capabilities.over == over_of(info.needs)) why = here;
    asked = true;
  }
  return why;
}

}  // namespace sumac
