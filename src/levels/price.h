// SPDX-License-Identifier: BSD-3-Clause
// What a plan costs, for `sumac plan` and tests. No call of the program uses it.
#pragma once

#include "algorithms/cost.h"
#include "levels/call_plan.h"

namespace sumac {

// What a stage of a plan costs a group of `ranks` ranks: the steps of one chunk, the bytes of all
// chunks. There are no messages where the ranks send none or the MPI chooses.
Traffic price(const StagePlan& stage, int ranks, const CallShape& shape, const Chunks& chunks);

// The same of a plan's stage, of any collective, for a group that has its places where the
// collective has parts.
Traffic price(const CallPlan& plan, const StagePlan& stage, const LevelGroup& group,
              const CallShape& shape);

}  // namespace sumac
