// SPDX-License-Identifier: BSD-3-Clause
// Folding takes simulated time: so many bytes a second as the simulated host's speed says, the same
// for Sumac, whose kernels are called through functions that charge, and for SMPI's own
// collectives, which get operations that do.
#pragma once

#include <mpi.h>

#include "kernels/reduce.h"

namespace sumac::simulated {

// The kernel of a defined pair, which charges for what it folds.
ReduceFn charged_kernel(Op op, DType type);

// An operation of the MPI that folds by the same kernel and charges. Made anew for each caller,
// which frees it.
MPI_Op make_charged_op(Op op);

// none where Sumac has no kernels for the type, or for the operation.
DType element_of(MPI_Datatype type);
Op operation_of(MPI_Op op);

}  // namespace sumac::simulated
