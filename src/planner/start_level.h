// SPDX-License-Identifier: BSD-3-Clause
// From a chosen algorithm to its coroutine on a level of a hierarchy.
#pragma once

#include "algorithms/levels/stage.h"
#include "planner/plan.h"

namespace sumac {

StartReduction reduction_on_level(Algorithm algorithm);
StartBcast bcast_on_level(Algorithm algorithm);

}  // namespace sumac
