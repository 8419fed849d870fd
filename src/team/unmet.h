// SPDX-License-Identifier: BSD-3-Clause
// What somebody asked for (SUMAC_ALGO, SUMAC_RULES) and does not get: rank 0 of the job says what
// and why, each once, of the communicators it is in.
#pragma once

#include <vector>

#include "interpose/backend/communicator.h"
#include "planner/forced.h"

namespace sumac {

// Of one communicator, while it is set up.
struct Wishes {
  std::vector<Algorithm> forced = forced_algorithms(options.algo);
  std::vector<Unmet> unmet;
  std::vector<Algorithm> met;  // of `forced`

  // What becomes of an algorithm that is forced.
  void note(Algorithm algorithm, const char* why_not);
  // The user's rules that are for such a group and cannot run there.
  void note_rules(const Capabilities& capabilities);
};

// A wish that is not met is told unless another algorithm that is forced for the collective is.
void tell_unmet(const Communicator& c, const Wishes& wishes);

// At the end: calls that went another way than forced on communicators that could have taken it.
void tell_unforced_calls(const Stats& stats);

}  // namespace sumac
