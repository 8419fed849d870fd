// SPDX-License-Identifier: BSD-3-Clause
// Warnings of one rank's own settings, and of settings that differ, once a job. Rank 0 tells its
// own when MPI_Init has returned. Another rank cannot know then whether rank 0 has the same to
// tell, and nothing may wait for others in MPI_Init; so it tells when it first sets a communicator
// up together with rank 0.
#pragma once

#include <cstdint>
#include <vector>

#include "rules/forced.h"
#include "team/hierarchies.h"
#include "team/introduction.h"
#include "team/team.h"

namespace sumac {

// Returns the hash for Hello::warnings, or 0 if there are no warnings.
std::uint64_t kept_warnings_hash();

// Each line that rank 0 does not have is printed by the lowest rank that has it. Collective, where
// ranks' warnings differ.
void tell_kept_warnings(Team& team, const Introduction& all);

// Collective: says once in what the options of the odd rank differ from rank 0's.
void explain_difference(Team& team, int odd);

// Somebody may ask for something (SUMAC_ALGO, SUMAC_RULES) and not get it. Rank 0 of the job says
// what and why, each once, for the communicators it is in (unmet.cc).

// These are the wishes for one team, while it is set up.
class Wishes {
 public:
  explicit Wishes(const Context& context)
      : context_(context), forced_(forced_algorithms(context.options.algo)) {}

  // Judge whether the ranks get what somebody asked for: as one group, for collectives without
  // levels, and over hierarchies.
  void judge_group(const Team& team, const Capabilities& capabilities);
  // Returns true on the rank that tells, if there are any wishes: no other rank need judge them.
  bool are_any() const;
  void judge_levels(const Team& team, const std::vector<Wanted>& wanted);

 private:
  friend void tell_unmet(const Team& team, const Wishes& wishes);
  // Notes whether a forced algorithm runs; `why_not` is null if it does.
  void note(Algorithm algorithm, const char* why_not);
  // Notes the user's rules that are for such a group and cannot run there.
  void note_rules(const Capabilities& capabilities);

  const Context& context_;
  std::vector<Algorithm> forced_;
  std::vector<Capabilities> judged_;  // those for which rules were looked at
  std::vector<Unmet> unmet_;
  std::vector<Algorithm> met_;  // those of `forced_` that run
};

// A wish that is not met is reported unless another algorithm that is forced for the collective is.
void tell_unmet(const Team& team, const Wishes& wishes);

// Must be called at the end: tells of calls that went another way than forced on communicators that
// could have taken it.
void tell_unforced_calls(const Stats& stats, const char* algo);

}  // namespace sumac
