// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/backend/unmet.h"

#include <algorithm>
#include <mutex>
#include <set>
#include <string>

#include "observe/log.h"

namespace sumac {
namespace {

// What has been told: the rule, and the algorithm.
std::mutex mutex;
std::set<std::pair<std::int32_t, Algorithm>>& told() {
  static auto* all = new std::set<std::pair<std::int32_t, Algorithm>>;
  return *all;
}

bool is_first(const Unmet& unmet) {
  const std::lock_guard<std::mutex> lock(mutex);
  return told().insert({unmet.rule, unmet.algorithm}).second;
}

bool was_told(Algorithm algorithm) {
  const std::lock_guard<std::mutex> lock(mutex);
  return told().contains({kForced, algorithm});
}

void tell(const Communicator& c, const Unmet& unmet) {
  if (log_rank() != 0 || !is_first(unmet)) return;
  if (unmet.rule == kForced) {
    log(Level::warn,
        "warning[forced]: SUMAC_ALGO=%s:%s does not run on a communicator of %d ranks: %s; the "
        "rules choose",
        name_of(info_of(unmet.algorithm).collective), name_of(unmet.algorithm), c.size, unmet.why);
  } else {
    const Rule& rule = user_rules().rules[static_cast<std::size_t>(unmet.rule)];
    log(Level::warn,
        "warning[forced]: %.200s:%d: %s:%s does not run on a communicator of %d ranks: %s; later "
        "rules choose",
        options.rules, rule.line, name_of(rule.collective), name_of(unmet.algorithm), c.size,
        unmet.why);
  }
}

// What has a warning of its own, or is an error.
bool is_told_elsewhere(Reason reason) {
  for (const Reason told_of :
       {Reason::options_differ, Reason::builds_differ, Reason::shared_memory, Reason::messages,
        Reason::rank_without, Reason::arguments, Reason::nested, Reason::not_ready}) {
    if (reason == told_of) return true;
  }
  return false;
}

// The ways of one collective's calls.
struct Ways {
  std::uint64_t forced = 0, other = 0, local = 0, handed = 0, first = 0, elsewhere = 0;
  std::string reasons;
};

void add_reason(Ways& ways, std::uint64_t calls, const char* text) {
  if (calls == 0) return;
  ways.reasons += (ways.reasons.empty() ? "" : "; ") + std::to_string(calls) + " " + text;
}

Ways ways_of(const Stats& stats, Algorithm forced) {
  const Collective collective = info_of(forced).collective;
  const int c = static_cast<int>(collective);
  Ways ways;
  ways.local = stats.local[c].calls;
  ways.forced = stats.taken[static_cast<int>(forced)].calls;
  const bool for_groups = over_of(info_of(forced).needs) != Over::levels;
  for (const Algorithm algorithm : kAllAlgorithms) {
    const AlgorithmInfo& info = info_of(algorithm);
    if (info.collective != collective || algorithm == forced) continue;
    // A call over levels is counted as such, whatever its groups do.
    const bool has_groups = over_of(info.needs) == Over::levels && for_groups;
    (has_groups ? ways.elsewhere : ways.other) += stats.taken[static_cast<int>(algorithm)].calls;
  }
  for (int r = 0; r < kNumReasons; ++r) {
    const std::uint64_t calls = stats.handed[c][r].calls;
    if (static_cast<Reason>(r) == Reason::first_calls) {
      ways.first = calls;
    } else if (!is_told_elsewhere(static_cast<Reason>(r))) {
      ways.handed += calls;
      add_reason(ways, calls, text_of(static_cast<Reason>(r)));
    } else {
      ways.elsewhere += calls;
    }
  }
  return ways;
}

// Why a call was not served by the algorithm that could have served its communicator.
std::string why_other(Algorithm forced) {
  if (most_bytes(forced) < SIZE_MAX) {
    return "larger than the " + std::to_string(most_bytes(forced)) + " bytes it serves";
  }
  return "of operations of the program's own, which it cannot fold, or on other communicators";
}

// Whether a call as a whole is counted as the algorithm's.
bool is_counted(Algorithm algorithm) { return over_of(info_of(algorithm).needs) != Over::p2p; }

void tell_calls(const Stats& stats, Algorithm forced) {
  const AlgorithmInfo& info = info_of(forced);
  Ways ways = ways_of(stats, forced);
  const bool explained = was_told(forced) || !is_counted(forced);
  const std::uint64_t other = explained ? 0 : ways.other;
  std::uint64_t elsewhere = other + ways.handed;
  add_reason(ways, other, why_other(forced).c_str());
  if (ways.forced + ways.other + ways.handed + ways.elsewhere ==
      0) {  // too few calls, or nobody to talk to
    elsewhere += ways.first + ways.local;
    add_reason(ways, ways.first, text_of(Reason::first_calls));
    add_reason(ways, ways.local, "without communication: one rank, or no data");
  }
  if (elsewhere == 0) return;
  const std::uint64_t all =
      ways.forced + ways.other + ways.local + ways.handed + ways.first + ways.elsewhere;
  log(Level::warn, "warning[forced]: SUMAC_ALGO=%s:%s: %llu of %llu calls went another way: %s",
      name_of(info.collective), info.name, static_cast<unsigned long long>(elsewhere),
      static_cast<unsigned long long>(all), ways.reasons.c_str());
}

}  // namespace

void Wishes::note(Algorithm algorithm, const char* why_not) {
  if (why_not) {
    unmet.push_back({kForced, algorithm, why_not});
  } else {
    met.push_back(algorithm);
  }
}

void Wishes::note_rules(const Capabilities& capabilities) {
  if (user_rules().rules.empty()) return;
  std::vector<Unmet> missed;
  const PlanTable plans(user_rules(), capabilities, options.algo, &missed);
  for (const Unmet& each : missed) {
    if (each.rule != kForced) unmet.push_back(each);
  }
}

void tell_unmet(const Communicator& c, const Wishes& wishes) {
  for (const Unmet& unmet : wishes.unmet) {
    const Collective collective = info_of(unmet.algorithm).collective;
    const bool other = unmet.rule == kForced &&
                       std::any_of(wishes.met.begin(), wishes.met.end(), [&](Algorithm algorithm) {
                         return info_of(algorithm).collective == collective;
                       });
    if (!other) tell(c, unmet);
  }
}

void tell_unforced_calls(const Stats& stats) {
  std::set<Algorithm> forced;
  std::set<Collective> several, seen;
  for (const Algorithm algorithm : forced_algorithms(options.algo)) {
    forced.insert(algorithm);
    if (!seen.insert(info_of(algorithm).collective).second) {
      several.insert(info_of(algorithm).collective);
    }
  }
  for (const Algorithm algorithm : forced) {
    if (!several.contains(info_of(algorithm).collective)) tell_calls(stats, algorithm);
  }
}

}  // namespace sumac
