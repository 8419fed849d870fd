// SPDX-License-Identifier: BSD-3-Clause
// This function tells how many of its processors a rank has for itself.
#pragma once

#include <vector>

#include "machine/machine.h"

namespace sumac {

// Returns the part (0 to 1) of the processors `own` that a rank has if each processor is divided
// evenly among the ranks that may run on it. These are the `others` of its machine, and `unknown`
// ranks about which nothing is known. The latter are taken to run on all of `own`, unless the known
// ranks share no processor, which shows that ranks are bound.
double share_of_processors(const CpuMask& own, const std::vector<CpuMask>& others, int unknown);

}  // namespace sumac
