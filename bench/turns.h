// SPDX-License-Identifier: BSD-3-Clause
// Contenders of one process take turns, as those of several processes do in measure.h. A call may
// take only nanoseconds, so many calls are timed as one batch. Batches are short, so that on a busy
// machine few are interrupted. A sample is the median of a round's batches.
#pragma once

#include <functional>
#include <vector>

#include "options.h"
#include "results.h"
#include "stats.h"

namespace sumac::bench {

// Makes this many calls.
using Repeat = std::function<void(int calls)>;

struct Effort {
  int rounds;
  int calls;  // per round; 0: as `seconds` allows
  double seconds;
};

// Returns results in the order of the contenders, which all get about the same time. If calls take
// long, first the calls per round become fewer, down to one, then the rounds, down to
// kFewestRounds.
std::vector<Turns> take_turns(const std::vector<Repeat>& contenders, const Effort& effort);

inline constexpr int kFewestRounds = 5;

// The contenders of a call of one process.
struct LocalContenders {
  Repeat memcpy, native, sumac, loop;
};

// Times memcpy and those others that have a place in `cell`.
void time_cell(const LocalContenders& contenders, const Options& options, Cell& cell);

// Copies `bytes`, as often as it is asked.
Repeat repeat_memcpy(void* to, const void* from, std::size_t bytes);

}  // namespace sumac::bench
