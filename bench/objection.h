// SPDX-License-Identifier: BSD-3-Clause
// Checks whether a run is possible.
#pragma once

#include <string>

#include "options.h"

namespace sumac::bench {

// Why the run is impossible: a root outside the communicator, an operation that is not defined for
// the type, a call that crashes this MPI by itself. Empty when it is possible.
std::string objection(const Options& options, int ranks, const std::string& library);

}  // namespace sumac::bench
