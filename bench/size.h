// SPDX-License-Identifier: BSD-3-Clause
// Checks and times one message size.
#pragma once

#include "contenders.h"
#include "options.h"
#include "results.h"
#include "world.h"

namespace sumac::bench {

// Collective. Checks and times one size. Only rank 0 gets the samples.
Row run_size(const Options& options, const World& world, const Buffers& buffers, std::size_t count,
             const Contenders& contenders);

}  // namespace sumac::bench
