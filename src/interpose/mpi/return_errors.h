// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "interpose/mpi/constants.h"

namespace sumac {

// Makes calls on the communicator return their errors to the caller, as MPI_ERRORS_RETURN does.
void return_errors(MpiComm comm);

}  // namespace sumac
