// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <charconv>

#include "base/algorithm.h"
#include "base/nearest.h"
#include "base/text.h"
#include "hierarchy/hierarchy_build.h"

namespace sumac {
namespace {

constexpr int kMostRanks = 1 << 20;  // keeps a mistyped range from filling the memory
constexpr const char* kLevelHelp = "core l2 l3 numa package node ranks:N list:0-3/4-7";

std::string quoted(std::string_view text) {
  std::string word(1, '\'');
  word.append(text);
  word += '\'';
  return word;
}

bool parse_count(std::string_view text, int& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && number >= 0 &&
         number <= kMostRanks;
}

// Returns "; did you mean 'numa'?", or nothing if no candidate is near.
std::string suggestion(std::string_view word, const std::vector<const char*>& candidates) {
  const char* nearest =
      sumac_nearest(word.data(), word.size(), candidates.data(), candidates.size());
  return nearest ? "; did you mean " + quoted(nearest) + "?" : std::string();
}

struct SpecParser {
  HierarchySpec spec;
  std::string problem;

  bool fail(std::string why) {
    problem = std::move(why);
    return false;
  }
  bool unknown(std::string_view word);
  bool named(int kind);
  bool ranks(std::string_view number);
  bool range(std::string_view text, std::vector<int>& group);
  bool list(std::string_view text);
  bool level(std::string_view word);
  bool levels(std::string_view text);
};

bool SpecParser::unknown(std::string_view word) {
  std::vector<const char*> known(kLevelNames, kLevelNames + kNamedKinds);
  known.insert(known.end(), {"ranks", "list", "auto", "flat"});
  std::string_view rest = word;
  const std::string near = suggestion(take_word(rest, ':'), known);
  return fail("unknown level " + quoted(word) + near + (near.empty() ? ". " : " ") +
              "Levels: " + kLevelHelp);
}

bool SpecParser::named(int kind) {
  for (const LevelSpec& before : spec.levels) {
    const int other = static_cast<int>(before.kind);
    if (other >= kNamedKinds || other < kind) continue;
    if (other == kind) return fail("level " + quoted(kLevelNames[kind]) + " is named twice");
    return fail(quoted(kLevelNames[kind]) + " comes after " + quoted(kLevelNames[other]) +
                ", but levels go from the smallest groups to the largest: "
                "core l2 l3 numa package node");
  }
  spec.levels.push_back({static_cast<LevelKind>(kind), 0, {}});
  return true;
}

bool SpecParser::ranks(std::string_view number) {
  LevelSpec made{LevelKind::ranks, 0, {}};
  if (!parse_count(number, made.ranks) || made.ranks < 2) {
    return fail(quoted("ranks:" + std::string(number)) +
                ": the members of a group are a number from 2");
  }
  spec.levels.push_back(made);
  return true;
}

bool SpecParser::range(std::string_view text, std::vector<int>& group) {
  std::string_view rest = text;
  int first = 0, last = 0;
  const std::string_view from = take_word(rest, '-');
  const std::string_view to = text.find('-') == text.npos ? from : trimmed(rest);
  if (!parse_count(from, first) || !parse_count(to, last) || last < first) {
    return fail(quoted(text) + " in a list is neither a rank nor a range of ranks such as 0-3");
  }
  for (int rank = first; rank <= last; ++rank) group.push_back(rank);
  return true;
}

// Parses "0-3/4-7", or one more range of a list's last group.
bool SpecParser::list(std::string_view text) {
  std::vector<std::vector<int>>& groups = spec.levels.back().groups;
  if (groups.empty()) groups.emplace_back();
  while (true) {
    const bool more = text.find('/') != text.npos;
    if (!range(take_word(text, '/'), groups.back())) return false;
    if (!more) return true;
    groups.emplace_back();
  }
}

bool SpecParser::level(std::string_view word) {
  const bool after_list = !spec.levels.empty() && spec.levels.back().kind == LevelKind::list;
  if (after_list && !word.empty() && word[0] >= '0' && word[0] <= '9') return list(word);
  for (int kind = 0; kind < kNamedKinds; ++kind) {
    if (word == kLevelNames[kind]) return named(kind);
  }
  if (word.starts_with("ranks:")) return ranks(trimmed(word.substr(6)));
  if (word.starts_with("list:")) {
    spec.levels.push_back({LevelKind::list, 0, {}});
    return list(word.substr(5));
  }
  if (word == "ranks") return fail("'ranks' lacks the members of a group, as in ranks:4");
  if (word == "list") return fail("'list' lacks its ranks, as in list:0-3/4-7");
  if (word == "auto" || word == "flat") {
    return fail(quoted(word) + " stands alone: it cannot be combined with levels");
  }
  return unknown(word);
}

bool SpecParser::levels(std::string_view text) {
  if (text.empty()) return fail(std::string("no level is named. Levels: ") + kLevelHelp);
  if (text == "flat") return true;
  if (text == "auto") return spec.automatic = true;
  for (bool more = true; more;) {
    more = text.find(',') != text.npos;
    if (!level(take_word(text, ','))) return false;
  }
  return true;
}

// Removes a collective's name and "=" from an item of SUMAC_HIERARCHY and returns the name. Returns
// an empty text if the item has none.
std::string_view take_collective(std::string_view& item) {
  if (item.find('=') == item.npos) return {};
  const std::string_view name = take_word(item, '=');
  item = trimmed(item);
  return name;
}

}  // namespace

bool parse_hierarchy(std::string_view text, HierarchySpec& spec, std::string& problem) {
  SpecParser parser;
  if (!parser.levels(trimmed(text))) {
    problem = std::move(parser.problem);
    return false;
  }
  spec = std::move(parser.spec);
  return true;
}

std::string_view hierarchy_for(std::string_view option, std::string_view collective) {
  std::string_view others = "auto";
  while (!option.empty()) {
    std::string_view item = take_word(option, ';');
    const bool for_all = item.find('=') == item.npos;
    const std::string_view name = take_collective(item);
    if (!for_all && name == collective) return item;
    if (for_all && !item.empty()) others = item;
  }
  return others;
}

bool check_hierarchies(std::string_view option, std::string& problem) {
  const std::vector<const char*> known = collective_names(is_of_ranks);
  std::vector<std::string_view> met;
  while (!option.empty()) {
    std::string_view item = take_word(option, ';');
    if (item.empty()) continue;
    const bool for_all = item.find('=') == item.npos;
    const std::string_view name = take_collective(item);
    if (!for_all && std::find(known.begin(), known.end(), name) == known.end()) {
      const std::string near = suggestion(name, known);
      problem = "unknown collective " + quoted(name) + near + (near.empty() ? ". " : " ") +
                "Collectives with hierarchies:";
      for (const char* each : known) problem += std::string(" ") + each;
      return false;
    }
    if (std::find(met.begin(), met.end(), name) != met.end()) {
      problem = for_all ? "two hierarchies without a collective's name"
                        : "two hierarchies for " + std::string(name);
      return false;
    }
    met.push_back(name);
    HierarchySpec spec;
    if (!parse_hierarchy(item, spec, problem)) return false;
  }
  return true;
}

}  // namespace sumac
