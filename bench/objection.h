// SPDX-License-Identifier: BSD-3-Clause
// Which runs cannot be.
#pragma once

#include <string>

#include "options.h"

namespace sumac::bench {

// What cannot be run: a root outside the communicator, an operation the type has not, a call that
// crashes this MPI by itself. Empty when all is well.
std::string objection(const Options& options, int ranks, const std::string& library);

}  // namespace sumac::bench
