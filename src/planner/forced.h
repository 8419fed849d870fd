// SPDX-License-Identifier: BSD-3-Clause
// SUMAC_ALGO: "collective:algorithm;collective:algorithm".
#pragma once

#include <string>
#include <vector>

#include "planner/plan.h"

namespace sumac {

// Those it names, in its order, without what is not known.
std::vector<Algorithm> forced_algorithms(const char* forced);

// Whether it is well formed and names known algorithms; if not, what is wrong with it, and what was
// probably meant.
bool check_forced(const char* forced, std::string& problem);

// A group of a hierarchy in which a call of the collective has work, as far as it matters here.
struct AskedGroup {
  Collective asked;  // of the group: an all-reduce reduces, exchanges and broadcasts
  Capabilities capabilities;
};

// Why an algorithm for groups runs in none of the parts of its collective; null where it runs.
const char* why_in_no_group(Algorithm algorithm, const std::vector<AskedGroup>& parts);

}  // namespace sumac
