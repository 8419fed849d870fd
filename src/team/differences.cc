// SPDX-License-Identifier: BSD-3-Clause
// This file says how ranks differ: which rank, and in what.
#include <atomic>
#include <cstring>

#include "observe/log.h"
#include "team/set_up.h"

namespace sumac {
namespace {

struct Text {
  char characters[256];
};

Text own_text(const Team& team) {
  const sumac_options& options = team.context.options;
  const RuleSet& rules = team.context.rules;
  Text text{};
  sumac_options_text(&options, text.characters, sizeof text.characters);
  std::size_t used = std::strlen(text.characters);
  // Files of the same name may differ, so their contents are compared.
  if (!rules.rules.empty()) {
    std::snprintf(text.characters + used, sizeof text.characters - used,
                  " RULES=%.100s (content %08x)", options.rules, static_cast<unsigned>(rules.hash));
    used = std::strlen(text.characters);
  }
  std::snprintf(text.characters + used, sizeof text.characters - used, "%s%s",
                team.hierarchy.empty() ? "" : " info key sumac_hierarchy=", team.hierarchy.c_str());
  return text;
}

const char* or_defaults(const Text& text) {
  if (text.characters[0] == '\0') return "only defaults";
  return text.characters + (text.characters[0] == ' ' ? 1 : 0);
}

}  // namespace

void explain_difference(Team& team, const std::vector<Hello>& hellos) {
  const Text own = own_text(team);
  std::vector<Text> texts(hellos.size());
  team.oob.all_gather(&own, texts.data(), sizeof own);
  static std::atomic<bool> told;
  if (told.exchange(true)) return;
  for (std::size_t r = 1; r < hellos.size(); ++r) {
    if (hellos[r].options == hellos[0].options) continue;
    log(Level::warn, "warning[options-differ]: rank %zu has %s, rank 0 has %s; give all the same",
        r, or_defaults(texts[r]), or_defaults(texts[0]));
    return;
  }
}

}  // namespace sumac
