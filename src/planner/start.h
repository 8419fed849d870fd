// SPDX-License-Identifier: BSD-3-Clause
// From a chosen algorithm to its coroutine.
#pragma once

#include "algorithms/algorithms.h"
#include "planner/plan.h"

namespace sumac {

Task start_reduction(Algorithm algorithm, Strand& strand, ShmGroup& group,
                     const ReduceArguments& args, const SingleCopy& peers);
Task start_bcast(Algorithm algorithm, Strand& strand, ShmGroup& group, const BcastArguments& args,
                 const SingleCopy& peers);

}  // namespace sumac
