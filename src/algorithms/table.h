// SPDX-License-Identifier: BSD-3-Clause
// The table of algorithms has each row of algorithms.def with its functions, called in the same way
// for every row.
#pragma once

#include "algorithms/functions.h"

namespace sumac {

// Starts an algorithm on a group that shares memory. Only single copy uses `peers`.
using StartShared = Task (*)(Strand& strand, ShmGroup& group, const CallArguments& args,
                             const SingleCopy& peers);
// Starts an algorithm on a group whose ranks see each other's buffers: the second half of
// try_direct() (direct.h).
using StartDirect = Task (*)(Strand& strand, ShmGroup& group, const CallArguments& args,
                             const SingleCopy& peers, const Direct& direct);
// Starts an algorithm on a group whose ranks reach each other by messages.
using StartSending = Task (*)(Strand& strand, MessageGroup& group, const CallArguments& args);

struct AlgorithmEntry : AlgorithmInfo {
  // At most one is not null; all are null if the algorithm needs levels.
  StartShared start;
  StartDirect start_direct;
  StartSending start_sending;
  CostFn* cost;
};

// Algorithm::native has no entry, so callers must not ask for it.
const AlgorithmEntry& entry_of(Algorithm algorithm);

// Says which data of a call an algorithm takes with gaps; the others must be contiguous. With
// `has_slots` the group's slots have room for data even if the algorithm mostly needs none.
struct TakesGaps {
  bool sent, received;
};
TakesGaps takes_gaps(const AlgorithmInfo& info, bool has_slots);

}  // namespace sumac
