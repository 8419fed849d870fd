// SPDX-License-Identifier: BSD-3-Clause
// Contenders of one process take turns, as those of several do in rounds.h. Their calls may take
// nanoseconds: many are timed as one batch. Batches are short, so that on a busy machine few of
// them are interrupted, and a sample is the median of a round's batches.
#pragma once

#include <functional>
#include <vector>

#include "stats.h"

namespace sumac::bench {

// Makes this many calls.
using Repeat = std::function<void(int calls)>;

struct Effort {
  int rounds;
  int calls;  // in a round; 0 chooses by `seconds`
  double seconds;
};

// In the order of the contenders, each of which gets about the same part of the time. Calls that
// take long are fewer, down to one in a round, then the rounds are, down to kFewestRounds.
std::vector<Turns> take_turns(const std::vector<Repeat>& contenders, const Effort& effort);

inline constexpr int kFewestRounds = 5;

}  // namespace sumac::bench
