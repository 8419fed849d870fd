// SPDX-License-Identifier: BSD-3-Clause
// `sumac plan` and tests ask what a plan costs. No call of the program uses this.
#pragma once

#include "algorithms/cost.h"
#include "levels/call_plan.h"

namespace sumac {

// Returns what a stage of a plan costs a group of `ranks` ranks: the steps of one chunk, the bytes
// of all chunks. There are no messages if the ranks send none or the MPI chooses.
Traffic price(const StagePlan& stage, int ranks, const CallShape& shape, const Chunks& chunks);

// Does the same for a plan's stage of any collective. If the collective has parts, the group must
// have its places.
Traffic price(const CallPlan& plan, const StagePlan& stage, const LevelGroup& group,
              const CallShape& shape);

}  // namespace sumac
