// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/process/trace_choices.h"

#include <map>
#include <mutex>
#include <string>

#include "observe/log.h"

namespace sumac {
namespace {

// This counts how many communicators each decision was made for.
std::mutex mutex;
std::map<std::string, int>& decisions() {
  static auto* all = new std::map<std::string, int>;
  return *all;
}

// Returns where a choice comes from: "rules.toml:31", "my.toml:12", "SUMAC_ALGO".
std::string origin_of(const ChoiceRange& range) {
  if (range.rule == kForced) return "SUMAC_ALGO";
  if (range.rule == kByRadix) return "SUMAC_NODE_RADIX";
  return range.rule < 0 ? "no rule" : place_of(range.rule, user_rules(), options.rules);
}

std::string text_of(Collective collective, const ChoiceTable& choices) {
  const bool has_data = info_of(collective).has_data;
  std::string text;
  for (std::size_t from = 0;;) {
    const ChoiceRange& range = choices.range(collective, from);
    const bool native = range.choice.algorithm == Algorithm::native;
    text += text.empty() ? "" : ", ";
    text += native ? "the MPI" : info_of(range.choice.algorithm).name;
    if (has_data) text += " from " + std::to_string(from) + " bytes";
    text += " (" + origin_of(range) + ")";
    if (range.most == SIZE_MAX || !has_data) return text;
    from = range.most + 1;
  }
}

}  // namespace

void trace_choices(const Communicator& c, Collective collective, const ChoiceTable& choices,
                   const char* ranks_are) {
  if (!logs(Level::trace) || c.rank != 0) return;
  const std::string decision = std::string(name_of(collective)) + " of " + std::to_string(c.size) +
                               " ranks, " + ranks_are + ": " + text_of(collective, choices);
  const std::lock_guard<std::mutex> lock(mutex);
  if (decisions()[decision]++ == 0) log(Level::trace, "decided: %s", decision.c_str());
}

void trace_counts(const RankReport& report) {
  if (!logs(Level::trace) || log_rank() != 0) return;
  const std::lock_guard<std::mutex> lock(mutex);
  for (const auto& [decision, times] : decisions()) {
    const std::string what = decision.substr(0, decision.find(": "));
    if (times > 1) log(Level::trace, "decided: %d times: %s", times, what.c_str());
  }
  for (int i = 0; i < kNumCollectives; ++i) {
    const auto collective = static_cast<Collective>(i);
    for_each_path(report, collective, [&](const Path& path) {
      log(Level::trace, "calls: %llu times: %s: %s",
          static_cast<unsigned long long>(path.count.calls), name_of(collective), path.name);
    });
  }
}

}  // namespace sumac
