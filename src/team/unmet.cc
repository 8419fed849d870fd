// SPDX-License-Identifier: BSD-3-Clause
#include "team/warnings.h"

#include <algorithm>
#include <mutex>
#include <set>
#include <string>

#include "observe/log.h"

namespace sumac {
namespace {

// These pairs of a rule and an algorithm have been told.
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

void tell(const Team& team, const Unmet& unmet) {
  if (!is_first(unmet)) return;
  if (unmet.rule == kForced) {
    log(Level::warn,
        "warning[forced]: SUMAC_ALGO=%s:%s does not run on a communicator of %d ranks: %s; the "
        "rules choose",
        name_of(info_of(unmet.algorithm).collective), name_of(unmet.algorithm), team.size,
        unmet.why);
  } else {
    const Rule& rule = team.context.rules.rules[static_cast<std::size_t>(unmet.rule)];
    log(Level::warn,
        "warning[forced]: %.200s:%d: %s:%s does not run on a communicator of %d ranks: %s; later "
        "rules choose",
        team.context.options.rules, rule.line, name_of(rule.collective), name_of(unmet.algorithm),
        team.size, unmet.why);
  }
}

// Returns true for a reason that has a warning of its own, or is an error.
bool is_told_elsewhere(Reason reason) {
  for (const Reason told_of :
       {Reason::options_differ, Reason::builds_differ, Reason::shared_memory, Reason::messages,
        Reason::rank_without, Reason::arguments, Reason::nested, Reason::not_ready,
        Reason::in_order, Reason::not_in_order}) {
    if (reason == told_of) return true;
  }
  return false;
}

// Counts the ways of one collective's calls.
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
    const auto reason = static_cast<Reason>(r);
    if (reason == Reason::first_calls || reason == Reason::no_call_of_all) {
      ways.first += calls;
    } else if (!is_told_elsewhere(reason)) {
      ways.handed += calls;
      add_reason(ways, calls, text_of(static_cast<Reason>(r)));
    } else {
      ways.elsewhere += calls;
    }
  }
  return ways;
}

// Returns why a call was not served by the algorithm that could have served its communicator.
std::string why_other(Algorithm forced) {
  if (most_bytes(forced) < SIZE_MAX) {
    return "larger than the " + std::to_string(most_bytes(forced)) + " bytes it serves";
  }
  if (info_of(forced).needs == Needs::maps) {
    return "with buffers that are not in direct memory on all ranks (SUMAC_PROMOTE)";
  }
  return "of operations of the program's own, which it cannot fold, or on other communicators";
}

// Returns true if a call as a whole is counted as the algorithm's.
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

// Adds a part unless there is an equal one: a level of many nodes has few kinds of groups.
void add_part(const AskedGroup& part, std::vector<AskedGroup>& parts) {
  if (std::find(parts.begin(), parts.end(), part) == parts.end()) parts.push_back(part);
}

// Below the last level an all-reduce is a reduction up and a broadcast down.
void add_parts(const TeamSpec& spec, const Hierarchy& hierarchy, Collective collective,
               std::vector<AskedGroup>& parts) {
  for (const HierarchyLevel& level : hierarchy.levels) {
    const bool last = &level == &hierarchy.levels.back();
    for (const Group& group : level.groups) {
      if (group.members.size() == 1) continue;
      const Capabilities capabilities = spec.of_group(group);
      if (collective != Collective::allreduce || last) {
        add_part({collective, capabilities}, parts);
      } else {
        add_part({Collective::reduce, capabilities}, parts);
        add_part({Collective::bcast, capabilities}, parts);
      }
    }
  }
}

std::vector<AskedGroup> parts_of(const TeamSpec& spec, const std::vector<Wanted>& all) {
  std::vector<AskedGroup> parts;
  for (const Wanted& wanted : all) {
    for (const Collective collective : wanted.collectives) {
      if (collective == Collective::barrier) continue;  // it is an all-reduce of nothing
      add_parts(spec, wanted.hierarchy, collective, parts);
    }
  }
  return parts;
}

}  // namespace

void Wishes::note(Algorithm algorithm, const char* why_not) {
  if (why_not) {
    unmet_.push_back({kForced, algorithm, why_not});
  } else {
    met_.push_back(algorithm);
  }
}

void Wishes::note_rules(const Capabilities& capabilities) {
  if (context_.rules.rules.empty()) return;
  if (std::find(judged_.begin(), judged_.end(), capabilities) != judged_.end()) return;
  judged_.push_back(capabilities);
  std::vector<Unmet> missed;
  const ChoiceTable choices(context_.rules, capabilities, context_.options.algo, &missed);
  for (const Unmet& each : missed) {
    if (each.rule != kForced) unmet_.push_back(each);
  }
}

bool Wishes::are_any() const {
  return log_rank() == 0 && (!forced_.empty() || !context_.rules.rules.empty());
}

void Wishes::judge_group(const Team& team, const Capabilities& capabilities) {
  if (!are_any()) return;
  note_rules(capabilities);
  for (const Algorithm algorithm : forced_) {
    const bool here = !team.levels_for[static_cast<int>(info_of(algorithm).collective)];
    if (here) note(algorithm, why_not(algorithm, capabilities));
  }
}

void Wishes::judge_levels(const Team& team, const std::vector<Wanted>& all) {
  const std::vector<AskedGroup> parts = parts_of(team.spec, all);
  for (const AskedGroup& part : parts) note_rules(part.capabilities);
  for (const Wanted& wanted : all) {
    const Capabilities whole = team.spec.of_all(wanted.hierarchy);
    const std::vector<Collective>& own = wanted.collectives;
    note_rules(whole);
    for (const Algorithm algorithm : forced_) {
      const AlgorithmInfo& info = info_of(algorithm);
      if (std::find(own.begin(), own.end(), info.collective) == own.end()) continue;
      note(algorithm, over_of(info.needs) == Over::levels ? why_not(algorithm, whole)
                                                          : why_in_no_group(algorithm, parts));
    }
  }
}

void tell_unmet(const Team& team, const Wishes& wishes) {
  for (const Unmet& unmet : wishes.unmet_) {
    const Collective collective = info_of(unmet.algorithm).collective;
    const bool other =
        unmet.rule == kForced &&
        std::any_of(wishes.met_.begin(), wishes.met_.end(), [&](Algorithm algorithm) {
          return info_of(algorithm).collective == collective;
        });
    if (!other) tell(team, unmet);
  }
}

void tell_unforced_calls(const Stats& stats, const char* algo) {
  std::set<Algorithm> forced;
  std::set<Collective> several, seen;
  for (const Algorithm algorithm : forced_algorithms(algo)) {
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
