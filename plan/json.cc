// SPDX-License-Identifier: BSD-3-Clause
#include <nlohmann/json.hpp>

#include "plan/print.h"

namespace sumac::plan {
namespace {

using Json = nlohmann::ordered_json;

Json known(bool known, std::uint64_t value) { return known ? Json(value) : Json(nullptr); }

Json of_priced(const Priced& priced) {
  Json json{{"algorithm", name_of(priced.algorithm)}};
  if (tuned_of(priced.algorithm) == Tuned::radix) json["radix"] = priced.radix;
  json["steps"] = known(priced.cost.known, priced.cost.steps);
  json["bytes"] = known(priced.cost.known, priced.cost.bytes);
  return json;
}

Json of_row(const Row& row, const RuleSet& rules, const Options& options) {
  Json json{{"level", row.level},        {"groups", row.groups},       {"ranks", row.ranks},
            {"over", name_of(row.over)}, {"operation", row.operation}, {"chunk", row.chunk},
            {"chunks", row.chunks}};
  json.update(of_priced(row.taken));
  json["rule"] = rule_name(row.rule, rules, options);
  json["others"] = Json::array();
  for (const Priced& other : row.others) json["others"].push_back(of_priced(other));
  return json;
}

Json of_way(const Way& way) {
  Json json{{"algorithm", name_of(way.algorithm)}};
  if (way.chunk) json["chunk"] = way.chunk;
  json["steps"] = known(way.cost.known, way.cost.steps);
  json["chunks"] = way.chunks;
  json["bytes_between_nodes"] = known(way.cost.known, way.between_nodes);
  return json;
}

}  // namespace

std::string to_json(const Explanation& explanation, const RuleSet& rules, const Options& options) {
  Json json{{"collective", sumac::name_of(options.collective)},
            {"bytes", options.bytes},
            {"ranks", options.ranks},
            {"nodes", options.nodes},
            {"machine", options.machine},
            {"over", name_of(explanation.over)}};
  json.update(of_way(explanation.taken));
  json["rule"] = rule_name(explanation.rule, rules, options);
  json["levels"] = Json::array();
  for (const Row& row : explanation.taken.rows) {
    json["levels"].push_back(of_row(row, rules, options));
  }
  json["others"] = Json::array();
  for (const Way& other : explanation.others) json["others"].push_back(of_way(other));
  // The name of a machine's file may not be valid UTF-8.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace sumac::plan
