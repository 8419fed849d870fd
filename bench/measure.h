// SPDX-License-Identifier: BSD-3-Clause
// How long the calls of the contenders take.
#pragma once

#include <memory>
#include <vector>

#include "call.h"
#include "options.h"
#include "setting.h"
#include "stats.h"

namespace sumac::bench {

using Calls = std::vector<std::unique_ptr<Call>>;

// Of one contender. The start alone is timed in calls of its own: a reading of the clock between
// start and wait would be hidden behind the peers' work and yet be taken off. None of a blocking
// call.
struct Times {
  Samples whole, start;
};

// Collective. In the order of the calls; samples on rank 0 only, see in_rounds().
std::vector<Times> measure(const Calls& calls, const Setting& setting, const Options& options);

}  // namespace sumac::bench
