// SPDX-License-Identifier: BSD-3-Clause
// The calls about requests have layers: the innermost serves Sumac's requests and the MPI's, before
// it stand layers that tell or do more, and the program calls the outermost.
#pragma once

#include "interpose/mpi/mpi_functions.h"

namespace sumac {

// Sets the innermost layer.
void serve_requests(MpiFunctions& calls);

// Gives the stub the functions of `in_front`.
void redirect_requests(const sumac_stub& stub);

}  // namespace sumac
