// SPDX-License-Identifier: BSD-3-Clause
// Pieces of rules.cc: text -> TOML -> rules.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "planner/rules.h"

namespace sumac {

// One key of a [[rule]], as TOML has it.
struct RawField {
  enum class Kind { text, number, other };
  std::string key;
  int line = 0;
  Kind kind = Kind::other;
  std::string text;         // kind text: the value; other: what it is ("an array")
  std::int64_t number = 0;  // kind number
};

struct RawRule {
  int line = 0;
  std::vector<RawField> fields;  // in the order of the file
};

// What is wrong in a text, and where.
struct TextProblem {
  int line = 0;
  std::string what;
};

// TOML -> rules not yet understood. False when it is not TOML, or not a list of [[rule]].
bool read_toml(std::string_view text, std::vector<RawRule>& rules, TextProblem& problem);

// One rule, understood. False when it is not in the grammar.
bool parse_rule(const RawRule& raw, Rule& rule, TextProblem& problem);

// A whole text; `name` is how problems call it.
bool parse_rules(std::string_view text, const std::string& name, RuleSet& out,
                 std::string& problem);

// A piece of a user's text as it may stand in a message: of a bounded length, and in one line.
std::string shown(std::string_view text, std::size_t most = 60);

extern const std::string_view kShippedText;

}  // namespace sumac
