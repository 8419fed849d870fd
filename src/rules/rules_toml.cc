// SPDX-License-Identifier: BSD-3-Clause
// This is the only file that knows toml++. It is compiled without exceptions and without the
// standard library's streams: these and their locales would double the size of a back end.
#define TOML_HEADER_ONLY 1
#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#define TOML_FLOAT_CHARCONV 1
// toml++ 3.3 asserts in places where it would otherwise report the same as an error.
#define TOML_ASSERT(condition) static_assert(true)
#include <toml++/toml.h>

#include <algorithm>

#include "rules/rules_parse.h"

namespace sumac {
namespace {

int line_of(const toml::node& node) { return static_cast<int>(node.source().begin.line); }
int line_of(const toml::key& key) { return static_cast<int>(key.source().begin.line); }

const char* kind_name(const toml::node& node) {
  switch (node.type()) {
    case toml::node_type::table:
      return "a table";
    case toml::node_type::array:
      return "an array";
    case toml::node_type::floating_point:
      return "a number with a fraction";
    case toml::node_type::boolean:
      return "true or false";
    default:
      return "a date or time";
  }
}

RawField to_field(const toml::key& key, const toml::node& node) {
  RawField field;
  field.key = std::string(key.str());
  field.line = line_of(key);
  if (const auto* text = node.as_string()) {
    field.kind = RawField::Kind::text;
    field.text = text->get();
  } else if (const auto* number = node.as_integer()) {
    field.kind = RawField::Kind::number;
    field.number = number->get();
  } else {
    field.text = kind_name(node);
  }
  return field;
}

RawRule to_rule(const toml::table& table) {
  RawRule rule;
  rule.line = line_of(table);
  for (const auto& [key, node] : table) rule.fields.push_back(to_field(key, node));
  std::stable_sort(rule.fields.begin(), rule.fields.end(),
                   [](const RawField& a, const RawField& b) { return a.line < b.line; });
  return rule;
}

bool fail(TextProblem& problem, int line, std::string what) {
  problem = {line, std::move(what)};
  return false;
}

}  // namespace

bool read_toml(std::string_view text, std::vector<RawRule>& rules, TextProblem& problem) {
  const toml::parse_result result = toml::parse(text);
  if (result.failed()) {
    return fail(problem, static_cast<int>(result.error().source().begin.line),
                "not TOML: " + shown(result.error().description()) +
                    "; a rule is a line [[rule]] and lines such as collective = \"allreduce\"");
  }
  for (const auto& [key, node] : result.table()) {
    if (key.str() != "rule") {
      return fail(problem, line_of(key),
                  "unknown key '" + shown(key.str()) +
                      "' outside of a rule; begin each rule with a line [[rule]]");
    }
    const toml::array* list = node.as_array();
    if (!list || !(list->empty() || list->is_homogeneous<toml::table>())) {
      return fail(problem, line_of(node),
                  std::string("'rule' is ") +
                      (list              ? "a list of other things than tables"
                       : node.is_table() ? "a single table"
                                         : "a value") +
                      "; begin each rule with a line [[rule]], in two pairs of brackets");
    }
    for (const toml::node& item : *list) rules.push_back(to_rule(*item.as_table()));
  }
  return true;
}

}  // namespace sumac
