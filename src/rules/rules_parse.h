// SPDX-License-Identifier: BSD-3-Clause
// These are parts of rules.cc: from text to TOML, and from TOML to rules.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "rules/rules.h"

namespace sumac {

// One key of a [[rule]] in the TOML.
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

// The problem says what is wrong in a text, and where.
struct TextProblem {
  int line = 0;
  std::string what;
};

// Reads TOML into rules that are not yet interpreted. Returns false if the text is not TOML, or not
// a list of [[rule]].
bool read_toml(std::string_view text, std::vector<RawRule>& rules, TextProblem& problem);

// Interprets one rule. Returns false if it is not in the grammar.
bool parse_rule(const RawRule& raw, Rule& rule, TextProblem& problem);

// Parses a whole text; problems refer to it as `name`.
bool parse_rules(std::string_view text, const std::string& name, RuleSet& out,
                 std::string& problem);

// Returns a piece of a user's text for a message, of bounded length and on one line.
std::string shown(std::string_view text, std::size_t most = 60);

}  // namespace sumac
