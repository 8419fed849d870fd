// SPDX-License-Identifier: BSD-3-Clause
// The table of algorithms: each row of algorithms.def with its functions, called in the same way
// for every row.
#pragma once

#include "algorithms/algorithms.h"
#include "algorithms/levels/stage.h"

namespace sumac {

// Starts an algorithm on a group that shares memory.
using Start = Task (*)(Strand& strand, ShmGroup& group, const CallArguments& args,
                       const SingleCopy& peers);

struct AlgorithmEntry : AlgorithmInfo {
  // Null where the algorithm needs something else.
  Start start;
  StartOnLevel start_on_level;
  CostFn* cost;
};

// Not defined for Algorithm::native.
const AlgorithmEntry& entry_of(Algorithm algorithm);

}  // namespace sumac
