// SPDX-License-Identifier: BSD-3-Clause
// One message size, checked and timed.
#pragma once

#include "contenders.h"
#include "options.h"
#include "results.h"
#include "world.h"

namespace sumac::bench {

// Collective. Checks and times one size. The samples are there on rank 0 only.
Row run_size(const Options& options, const World& world, const Buffers& buffers, std::size_t count,
             const Contenders& contenders);

}  // namespace sumac::bench
