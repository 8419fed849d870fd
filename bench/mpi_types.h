// SPDX-License-Identifier: BSD-3-Clause
// MPI's handles for the element types and operations.
#pragma once

#include <mpi.h>

#include "base/types.h"

namespace sumac::bench {

// The MPI's handle of the type. MPI_DATATYPE_NULL where this MPI lacks the type, or treats it as
// another. MPI has no float16 and bfloat16: types of 2 bytes are made for them and declared by
// sumac_hint_type, so they need Sumac.
MPI_Datatype mpi_type(DType type);
MPI_Op mpi_op(Op op);

// Frees the types that were made here. Must be called before MPI_Finalize.
void free_types();

// True if the type is the MPI's own and was not made here.
bool is_predefined(DType type);

}  // namespace sumac::bench
