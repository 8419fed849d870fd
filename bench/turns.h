// SPDX-License-Identifier: BSD-3-Clause
// Contenders of one process take turns, as those of several do in rounds.h. Their calls may take
// nanoseconds: many are timed as one, and a sample is the mean of one round.
#pragma once

#include <functional>
#include <vector>

#include "options.h"
#include "stats.h"

namespace sumac::bench {

// Makes this many calls.
using Repeat = std::function<void(int calls)>;

struct Turns {
  Samples samples;  // one in each round
  int calls;        // in a round
};

// In the order of the contenders, each of which gets about the same part of options.seconds. Calls
// that take long are fewer, down to one in a round, then the rounds are, down to kFewestRounds.
std::vector<Turns> take_turns(const std::vector<Repeat>& contenders, const Options& options);

inline constexpr int kFewestRounds = 5;

}  // namespace sumac::bench
