// SPDX-License-Identifier: BSD-3-Clause
// MPI_Reduce_local in one process: every operation on every type, Sumac's and the MPI's own against
// memcpy of the same bytes and, where they are few, against a loop that a program could have.
//
// The same buffers are used in all calls, so small vectors are in the cache and those larger than
// it are not. Their values last: however often they are reduced, no call meets others.
#pragma once

#include "options.h"
#include "world.h"

namespace sumac::bench {

// Returns the number of wrong elements, and throws Unavailable when there is nothing to measure.
long run_local(const Options& options, const World& world);

}  // namespace sumac::bench
