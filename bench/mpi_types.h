// SPDX-License-Identifier: BSD-3-Clause
// MPI's handles for the element types and operations.
#pragma once

#include <mpi.h>

#include "base/types.h"

namespace sumac::bench {

// MPI_DATATYPE_NULL where this MPI has none, or one that it takes for another. MPI has none for
// float16 and bfloat16: theirs is made here of 2 bytes and made known to Sumac, and is there only
// with a Sumac that can be told.
MPI_Datatype mpi_type(DType type);
MPI_Op mpi_op(Op op);

// Frees the types that were made here; to be called before MPI_Finalize.
void free_types();

// Whether the type is the MPI's own, not one made here.
bool is_predefined(DType type);

}  // namespace sumac::bench
