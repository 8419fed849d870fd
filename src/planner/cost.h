// SPDX-License-Identifier: BSD-3-Clause
// What a plan costs. Nothing on the path of a call uses this.
#pragma once

#include "algorithms/cost.h"
#include "planner/call_plan.h"

namespace sumac {

// What a stage of a plan costs a group of so many ranks: the steps of one chunk, the bytes of all.
// Messages are empty where the ranks send none, or the MPI chooses.
Traffic price(const StagePlan& stage, int ranks, const CallShape& shape, const Chunks& chunks);

}  // namespace sumac
