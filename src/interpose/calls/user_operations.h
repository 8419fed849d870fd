// SPDX-License-Identifier: BSD-3-Clause
// sumac_op_create and the hints of sumac.h.
#pragma once

#include "interpose/mpi/mpi_messages.h"

namespace sumac {

// Handles with the same meaning that the program cannot free while a request is under way: the
// given ones where they are predefined, else Sumac's own.
TypedAllreduce lasting_handles(MPI_Datatype type, MPI_Op op);

// Before finalisation: frees those of lasting_handles().
void free_operations();

}  // namespace sumac
