// SPDX-License-Identifier: BSD-3-Clause
// The calls about requests, in layers: those for Sumac's requests and the MPI's, before them those
// that tell or do more, and the outermost ones are the program's.
#pragma once

#include "interpose/mpi/mpi_functions.h"

namespace sumac {

// Sets the innermost layer.
void serve_requests(MpiFunctions& calls);

// Gives the stub those of `in_front`.
void redirect_requests(const sumac_stub& stub);

}  // namespace sumac
