// SPDX-License-Identifier: BSD-3-Clause
#include "team/warnings.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <numeric>

#include "base/hash.h"
#include "observe/log.h"

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

// Words of which all ranks get the greatest: they find the lowest rank that has something to tell.
std::uint64_t word_of(int rank, bool tells) {
  return tells ? ~static_cast<std::uint64_t>(rank) : 0;
}
int rank_of(std::uint64_t word) { return word ? static_cast<int>(~word) : -1; }

int lowest_rank(Team& team, bool tells) {
  std::uint64_t word = word_of(team.rank, tells);
  team.oob.all_max(&word, 1);
  return rank_of(word);
}

// Says, behind the slug, whose warning it is.
void tell(const std::string& line, int rank) {
  const std::size_t end = line.find("]: ") + 3;
  log_here("%s on rank %d: %s", line.substr(0, end - 1).c_str(), rank, line.substr(end).c_str());
}

// The ranks tell one after another what no rank before has told; `first` has told its own.
void tell_differences(Team& team, int first) {
  const std::vector<std::string>& lines = kept_warnings();
  const Hashes own = own_hashes();
  std::vector<std::size_t> left(lines.size());  // lines that no rank has told
  std::iota(left.begin(), left.end(), 0);
  for (int teller = first; teller >= 0; teller = lowest_rank(team, !left.empty())) {
    Hashes told;
    if (team.rank == teller) told = own;
    team.oob.all_max(told.of, kMostKept);
    if (team.rank == teller && teller != first) {
      for (const std::size_t i : left) tell(lines[i], log_rank() >= 0 ? log_rank() : team.rank);
    }
    std::erase_if(left, [&](std::size_t i) { return told.holds(own.of[i]); });
  }
}

}  // namespace

std::uint64_t kept_warnings_hash() {
  std::uint64_t hash = 0;
  for (const std::string& line : kept_warnings()) hash = hash_text(line, hash);
  return hash;
}

void tell_kept_warnings(Team& team, const Introduction& all) {
  // The job's rank 0 has told its warnings already or, if no rank knows its number in the job, rank
  // 0 of the communicator.
  const bool unknown = all.all(Fact::unknown_in_job);
  if (!unknown && all.all(Fact::not_first_in_job)) return;
  const bool differ = !all.all(Fact::same_warnings);
  const bool is_first = unknown ? team.rank == 0 : all.own().job_rank == 0;
  if (log_rank() < 0)
    set_log(static_cast<Level>(team.context.options.debug), team.rank);  // tells those of rank 0
  if (differ) tell_differences(team, lowest_rank(team, is_first));
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

void explain_difference(Team& team, int odd) {
  Text of_first = own_text(team), of_odd = of_first;
  team.oob.broadcast(&of_first, sizeof of_first);
  // The others have nothing to say, so that all get what the odd rank says.
  constexpr std::size_t kWords = sizeof(Text) / sizeof(std::uint64_t);
  std::uint64_t words[kWords] = {};
  if (team.rank == odd) std::memcpy(words, &of_odd, sizeof words);
  team.oob.all_max(words, kWords);
  std::memcpy(&of_odd, words, sizeof words);
  static std::atomic<bool> told;
  if (told.exchange(true)) return;
  log(Level::warn, "warning[options-differ]: rank %d has %s, rank 0 has %s; give all the same", odd,
      or_defaults(of_odd), or_defaults(of_first));
}

}  // namespace sumac
