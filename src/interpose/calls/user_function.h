// SPDX-License-Identifier: BSD-3-Clause
// The MPI calls this function for an operation of sumac_op_create.
#pragma once

#include "base/types.h"
#include "interpose/mpi/callbacks.h"
#include "interpose/mpi/constants.h"

namespace sumac {

// Returns a function that does `op` on whatever type it is given; the job ends if it cannot serve
// the type.
UserFunction user_function(Op op, bool threaded);

}  // namespace sumac
