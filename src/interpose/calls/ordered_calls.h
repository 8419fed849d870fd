// SPDX-License-Identifier: BSD-3-Clause
// SUMAC_REPRODUCIBLE also holds for calls that are left to the MPI, which folds in an order of its
// own: here a blocking reduction uses the MPI's data movement alone, and ranks fold in rank order,
// by the same kernels as everywhere.
#pragma once

#include "interpose/calls/decide.h"

namespace sumac {

// With SUMAC_REPRODUCIBLE, a reduction that would be handed down is done in rank order if that is
// possible: the reason of the decision returned is then Reason::in_order. Otherwise it is
// not_in_order, of which a message warns once. The function leaves alone what the MPI should judge.
// The result depends only on what all ranks share.
Decision keep_order(const Call& call, const Decision& decision);

// Carries out a call whose reason is in_order. Returns the MPI's first error.
int reduce_in_order(const Call& call, const Decision& decision);

}  // namespace sumac
