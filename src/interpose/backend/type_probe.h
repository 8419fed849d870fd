// SPDX-License-Identifier: BSD-3-Clause
// Asks the MPI what it takes an element of a type for, by reducing a few of them.
#pragma once

#include <mpi.h>

#include "interpose/backend/type_info.h"

namespace sumac {

// True when the MPI reduces elements of the type with the operation. No error handler of the
// program's is called; false where there is no self_communicator() to ask on.
bool accepts(MPI_Datatype type, MPI_Op op);

// The integer, of the type's `size` in bytes, as which the MPI reduces elements of a type that is
// predefined: by min and max one with the same sign, by logical operations one that is true for any
// value but zero and gives 0 or 1. None where the MPI does not accept the pair or does anything
// else. That sums and products of single elements wrap is asked; that they always do is assumed, as
// it is for integers of the standard.
DType meaning_of(MPI_Datatype type, std::size_t size, Op op);

// True when the MPI's own MPI_Reduce_local does to elements of the type, which it accepts, what the
// kernel for `dtype` does. For logical kinds: any value but zero is true, the result is 0 or 1. For
// the others: the sum of numbers that another representation of the same size would get wrong.
bool agrees_on(MPI_Datatype type, TypeKind kind, DType dtype);

}  // namespace sumac
