// SPDX-License-Identifier: BSD-3-Clause
// This interface reads SUMAC_ALGO: "collective:algorithm;collective:algorithm".
#pragma once

#include <string>
#include <vector>

#include "rules/choice_table.h"

namespace sumac {

// Returns the algorithms that the text names, in its order; unknown ones are left out.
std::vector<Algorithm> forced_algorithms(const char* forced);

// Returns true if the text is well formed and names known algorithms. Otherwise `problem` says what
// is wrong and which name was probably meant.
bool check_forced(const char* forced, std::string& problem);

// A call of the collective has work in this group of a hierarchy. The struct has what
// why_in_no_group() needs.
struct AskedGroup {
  Collective asked;  // the group's part: an all-reduce reduces, exchanges and broadcasts
  Capabilities capabilities;

  bool operator==(const AskedGroup&) const = default;
};

// Returns why an algorithm for groups runs in none of the parts of its collective; null if it runs.
const char* why_in_no_group(Algorithm algorithm, const std::vector<AskedGroup>& parts);

}  // namespace sumac
