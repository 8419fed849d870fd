// SPDX-License-Identifier: BSD-3-Clause
// What the MPI calls for an operation of sumac_op_create.
#pragma once

#include <mpi.h>

#include "base/types.h"

namespace sumac {

// The function that does `op` on whatever type it is given; one it cannot do ends the job.
MPI_User_function* user_function(Op op, bool threaded);

}  // namespace sumac
