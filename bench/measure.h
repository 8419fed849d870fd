// SPDX-License-Identifier: BSD-3-Clause
// Measures how long the calls of the contenders take.
#pragma once

#include <memory>
#include <vector>

#include "call.h"
#include "options.h"
#include "results.h"
#include "setting.h"

namespace sumac::bench {

using Calls = std::vector<std::unique_ptr<RepeatedCall>>;

// Collective. Returns times in the order of the calls. Only rank 0 gets samples, see in_rounds().
std::vector<Times> measure(const Calls& calls, const Setting& setting, const Options& options);

}  // namespace sumac::bench
