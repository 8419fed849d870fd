// SPDX-License-Identifier: BSD-3-Clause
// Asks the MPI what it takes an element of a type for, by reducing a few of them.
#pragma once

#include <mpi.h>

#include "interpose/backend/type_info.h"

namespace sumac {

// True when the MPI's own MPI_Reduce_local does to elements of the type what the kernel for `dtype`
// does. For logical kinds: any value but zero is true, the result is 0 or 1. For the others: the
// sum of numbers that another representation of the same size would get wrong. MPI_COMM_WORLD must
// exist: meanwhile its errors, which an MPI may have for a type it cannot reduce, are nobody's.
bool agrees_on(MPI_Datatype type, TypeKind kind, DType dtype);

}  // namespace sumac
