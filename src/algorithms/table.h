// SPDX-License-Identifier: BSD-3-Clause
// The table of algorithms: a row of algorithms.def, and what its functions do, reached in the same
// way for every row.
#pragma once

#include "algorithms/algorithms.h"
#include "algorithms/levels/stage.h"

namespace sumac {

// Of one group that shares memory.
using Start = Task (*)(Strand& strand, ShmGroup& group, const CallArguments& args,
                       const SingleCopy& peers);

struct AlgorithmEntry : AlgorithmInfo {
  // Null where the algorithm is for something else.
  Start start;
  StartOnLevel start_on_level;
  CostFn* cost;
};

// Not for Algorithm::native.
const AlgorithmEntry& entry_of(Algorithm algorithm);

}  // namespace sumac
