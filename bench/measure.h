// SPDX-License-Identifier: BSD-3-Clause
// How long the calls of the contenders take.
#pragma once

#include <memory>
#include <vector>

#include "call.h"
#include "options.h"
#include "results.h"
#include "setting.h"

namespace sumac::bench {

using Calls = std::vector<std::unique_ptr<Call>>;

// Collective. In the order of the calls; samples on rank 0 only, see in_rounds().
std::vector<Times> measure(const Calls& calls, const Setting& setting, const Options& options);

}  // namespace sumac::bench
