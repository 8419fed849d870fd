// SPDX-License-Identifier: BSD-3-Clause
// SUMAC_ALGO: "collective:algorithm;collective:algorithm".
#pragma once

#include <string>
#include <vector>

#include "rules/choice_table.h"

namespace sumac {

// The algorithms that the text names, in its order; unknown ones are left out.
std::vector<Algorithm> forced_algorithms(const char* forced);

// True when the text is well formed and names known algorithms; else `problem` says what is wrong
// and which name was probably meant.
bool check_forced(const char* forced, std::string& problem);

// A group of a hierarchy in which a call of the collective has work, as far as why_in_no_group()
// needs it.
struct AskedGroup {
  Collective asked;  // of the group: an all-reduce reduces, exchanges and broadcasts
  Capabilities capabilities;
};

// Why an algorithm for groups runs in none of the parts of its collective; null where it runs.
const char* why_in_no_group(Algorithm algorithm, const std::vector<AskedGroup>& parts);

}  // namespace sumac
