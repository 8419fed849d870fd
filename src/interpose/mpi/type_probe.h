// SPDX-License-Identifier: BSD-3-Clause
// Asks the MPI what it takes an element of a type for, by reducing a few of them.
#pragma once

#include "interpose/mpi/constants.h"
#include "interpose/mpi/type_info.h"

namespace sumac {

// Returns true if the MPI reduces elements of the type with the operation. Calls no error handler
// of the program's; returns false if there is no self_communicator() to ask on.
bool accepts(MpiDatatype type, MpiOp op);

// Returns the integer, of the type's `size` in bytes, as which the MPI reduces elements of a
// predefined type: by min and max, one with the same sign; by logical operations, one for which any
// value but zero is true and the result is 0 or 1. Returns none if the MPI does not accept the pair
// or does anything else. It tests that sums and products of single elements wrap, and assumes that
// they always do, as for the standard's integers.
DType meaning_of(MpiDatatype type, std::size_t size, Op op);

// Returns true if the MPI's own MPI_Reduce_local does to elements of the type, which it accepts,
// what the kernel for `dtype` does. For logical kinds, any value but zero must be true, and the
// result 0 or 1. For other kinds, the sum must be right of numbers that another representation of
// the same size would get wrong.
bool agrees_on(MpiDatatype type, TypeKind kind, DType dtype);

}  // namespace sumac
