// SPDX-License-Identifier: BSD-3-Clause
#include "plan/explain.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <vector>

namespace sumac::plan {
namespace {

using Cells = std::vector<std::string>;
const Cells kTitles = {"level", "groups x ranks", "over",  "operation", "algorithm",
                       "chunk", "steps",          "bytes", "us",        "rule"};
constexpr std::size_t kChunk = 5, kTime = 8;  // columns of numbers, aligned to the right

std::string number(std::uint64_t value) { return std::to_string(value); }

std::string counted(std::uint64_t count, const char* what) {
  return number(count) + " " + what + (count == 1 ? "" : "s");
}

std::string algorithm_of(const Priced& priced) {
  const std::string name = name_of(priced.algorithm);
  if (tuned_of(priced.algorithm) != Tuned::radix) return name;
  return name + ", radix " + std::to_string(priced.radix);
}

std::string steps_of(const Cost& cost) { return cost.known ? number(cost.steps) : "?"; }
std::string bytes_of(const Cost& cost) { return cost.known ? number(cost.bytes) : "?"; }

double microseconds(const Cost& cost) { return predicted_time(cost.work) / 1000; }

// Three digits are more than the prediction is worth.
std::string time_of(const Cost& cost) {
  const double time = microseconds(cost);
  char text[32];
  std::snprintf(text, sizeof text, "%.*f", time < 10 ? 2 : time < 100 ? 1 : 0, time);
  return time > 0 ? text : "-";
}

std::string in_columns(const std::vector<Cells>& lines) {
  std::vector<std::size_t> widths(kTitles.size());
  for (const Cells& line : lines) {
    for (std::size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
  }
  std::string text;
  for (const Cells& line : lines) {
    std::string row;
    for (std::size_t i = 0; i < line.size(); ++i) {
      const std::string blanks(widths[i] - line[i].size(), ' ');
      const bool right = i >= kChunk && i <= kTime;
      row += (i ? "  " : "") + (right ? blanks + line[i] : line[i] + blanks);
    }
    text += row.substr(0, row.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

std::string table(const std::vector<Row>& rows, const RuleSet& rules, const Options& options) {
  std::vector<Cells> lines = {kTitles};
  for (const Row& row : rows) {
    lines.push_back({row.level, std::to_string(row.groups) + " x " + std::to_string(row.ranks),
                     name_of(row.over), row.operation, algorithm_of(row.taken), number(row.chunk),
                     steps_of(row.taken.cost), bytes_of(row.taken.cost), time_of(row.taken.cost),
                     rule_name(row.rule, rules, options)});
    for (const Priced& other : row.others) {
      lines.push_back({"", "", "", "", "or " + algorithm_of(other), "", steps_of(other.cost),
                       bytes_of(other.cost), time_of(other.cost), ""});
    }
  }
  return in_columns(lines);
}

std::string heading(const Options& options) {
  std::string text = sumac::name_of(options.collective);
  if (options.collective != Collective::barrier) text += " of " + counted(options.bytes, "byte");
  text += " over " + counted(static_cast<std::uint64_t>(options.ranks), "rank") + " on " +
          counted(static_cast<std::uint64_t>(options.nodes), "node");
  if (!options.machine.empty()) text += " of " + options.machine;
  return text + "\n";
}

std::string totals(const Way& way) {
  if (!way.cost.known) return "steps and bytes are not known: the MPI chooses";
  return counted(way.cost.steps, "step") + ", " + counted(way.between_nodes, "byte") +
         " between nodes";
}

std::string chosen(const Explanation& explanation, const RuleSet& rules, const Options& options) {
  const Way& way = explanation.taken;
  std::string text = "chosen: ";
  if (way.algorithm == Algorithm::native) {
    text += "the call is left to the MPI";
  } else {
    text += name_of(way.algorithm);
    if (way.chunk) {
      text += ", " + counted(way.chunks, "chunk") + " of up to " + counted(way.chunk, "byte");
    }
  }
  return text + " (" + rule_name(explanation.rule, rules, options) + ")\n";
}

// "candidates: single_copy, then split_slots, then the MPI's". Nothing is printed if there is one.
std::string candidates(const std::vector<Algorithm>& all) {
  if (all.size() < 2) return "";
  std::string text = "candidates: ";
  for (std::size_t i = 0; i < all.size(); ++i) {
    text += i > 0 ? ", then " : "";
    text += all[i] == Algorithm::native ? "the MPI's" : name_of(all[i]);
  }
  return text + " (SUMAC_ADAPT)\n";
}

const char kLegend[] =
    "Steps are waits for other ranks, one after another, of the first chunk; bytes those of the\n"
    "whole message that the busiest rank sends, or reads and writes in shared memory.\n";

// Says how far to trust the predicted times, where there are any.
std::string trust(const std::vector<Row>& rows) {
  const auto has_time = [](const Row& row) { return microseconds(row.taken.cost) > 0; };
  if (std::none_of(rows.begin(), rows.end(), has_time)) return "";
  char text[400];
  std::snprintf(
      text, sizeof text,
      "us is predicted for all chunks in shared memory, from measurements among %d to %d "
      "ranks of\none socket, and off by a factor of %g there. Larger groups have not been "
      "measured: expect\n%g or more. Rules do not choose by it.\n",
      kFit.least_ranks, kFit.most_ranks, kFit.off_by, kFit.off_beyond);
  return text;
}

}  // namespace

std::string to_text(const Explanation& explanation, const RuleSet& rules, const Options& options) {
  const Way& way = explanation.taken;
  std::string text =
      heading(options) + chosen(explanation, rules, options) + candidates(explanation.candidates);
  if (way.rows.empty()) return text;
  text.append("\n").append(table(way.rows, rules, options)).append("\n");
  if (explanation.over == Over::levels) text += "In all: " + totals(way) + ".\n";
  for (const Way& other : explanation.others) {
    text += std::string("Or ") + name_of(other.algorithm) + ": " + totals(other) + ".\n";
  }
  return text + kLegend + trust(way.rows);
}

namespace {

using Json = nlohmann::ordered_json;

Json known(bool known, std::uint64_t value) { return known ? Json(value) : Json(nullptr); }

Json of_priced(const Priced& priced) {
  Json json{{"algorithm", name_of(priced.algorithm)}};
  if (tuned_of(priced.algorithm) == Tuned::radix) json["radix"] = priced.radix;
  json["steps"] = known(priced.cost.known, priced.cost.steps);
  json["bytes"] = known(priced.cost.known, priced.cost.bytes);
  const double time = microseconds(priced.cost);
  json["predicted_us"] = time > 0 ? Json(std::round(time * 1000) / 1000) : Json(nullptr);
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
  json["candidates"] = Json::array();
  for (const Algorithm each : explanation.candidates) json["candidates"].push_back(name_of(each));
  json["levels"] = Json::array();
  for (const Row& row : explanation.taken.rows) {
    json["levels"].push_back(of_row(row, rules, options));
  }
  json["others"] = Json::array();
  for (const Way& other : explanation.others) json["others"].push_back(of_way(other));
  json["prediction"] = {{"least_ranks", kFit.least_ranks},
                        {"most_ranks", kFit.most_ranks},
                        {"off_by", kFit.off_by},
                        {"off_beyond", kFit.off_beyond}};
  // The name of a machine's file may not be valid UTF-8.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace sumac::plan
