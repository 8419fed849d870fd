// SPDX-License-Identifier: BSD-3-Clause
// How many of its processors a rank has for itself.
#pragma once

#include <vector>

#include "topology/machine.h"

namespace sumac {

// The part of the processors of `own`, 0 to 1, that a rank has when each one is divided evenly
// among the ranks that may run on it: `others` of its machine, and `unknown` ones of which nothing
// is known. These are taken to run on all of `own`, but for one case: ranks that are known and
// share nothing tell that ranks are bound.
double share_of_processors(const CpuMask& own, const std::vector<CpuMask>& others, int unknown);

}  // namespace sumac
