// SPDX-License-Identifier: BSD-3-Clause
#include "team/warnings.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "base/hash.h"
#include "observe/log.h"
#include "team/set_up.h"

namespace sumac {
namespace {

// The hashes of the lines, in their order; 0 behind the last.
struct Hashes {
  std::uint64_t of[kMostKept] = {};

  bool holds(std::uint64_t hash) const {
    return std::find(of, of + kMostKept, hash) != of + kMostKept;
  }
};

Hashes own_hashes() {
  Hashes hashes;
  std::size_t used = 0;
  for (const std::string& line : kept_warnings()) hashes.of[used++] = hash_text(line);
  return hashes;
}

// Returns the rank of the communicator that has told its warnings already: the job's rank 0 or, if
// no rank knows its number in the job, rank 0 of the communicator. -1 means that it is none of
// them.
int first_rank(const std::vector<Hello>& hellos) {
  bool unknown = true;
  for (std::size_t r = 0; r < hellos.size(); ++r) {
    if (hellos[r].job_rank == 0) return static_cast<int>(r);
    unknown &= hellos[r].job_rank < 0;
  }
  return unknown ? 0 : -1;
}

// Says, behind the slug, whose warning it is.
void tell(const std::string& line, int rank) {
  const std::size_t end = line.find("]: ") + 3;
  log_here("%s on rank %d: %s", line.substr(0, end - 1).c_str(), rank, line.substr(end).c_str());
}

void tell_differences(Team& team, int first) {
  const Hashes own = own_hashes();
  std::vector<Hashes> all(static_cast<std::size_t>(team.size));
  team.oob.all_gather(&own, all.data(), sizeof own);
  if (team.rank == first) return;
  const std::vector<std::string>& lines = kept_warnings();
  for (std::size_t i = 0; i < lines.size(); ++i) {
    bool told = all[static_cast<std::size_t>(first)].holds(own.of[i]);
    for (int r = 0; r < team.rank && !told; ++r)
      told = all[static_cast<std::size_t>(r)].holds(own.of[i]);
    if (!told) tell(lines[i], log_rank() >= 0 ? log_rank() : team.rank);
  }
}

}  // namespace

std::uint64_t kept_warnings_hash() {
  std::uint64_t hash = 0;
  for (const std::string& line : kept_warnings()) hash = hash_text(line, hash);
  return hash;
}

void tell_kept_warnings(Team& team, const std::vector<Hello>& hellos) {
  const int first = first_rank(hellos);
  if (first < 0) return;
  if (log_rank() < 0)
    set_log(static_cast<Level>(team.context.options.debug), team.rank);  // tells those of rank 0
  const bool differ = std::any_of(hellos.begin(), hellos.end(), [&](const Hello& hello) {
    return hello.warnings != hellos[0].warnings;
  });
  if (differ) tell_differences(team, first);
  if (log_rank() != 0) forget_kept_warnings();
}

namespace {

// This file says how ranks differ: which rank, and in what.
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
