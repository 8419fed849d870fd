// SPDX-License-Identifier: BSD-3-Clause
// sumac_op_create and the hints of sumac.h.
#pragma once

#include "interpose/mpi/mpi_messages.h"

namespace sumac {

// sumac_op_create, sumac_hint_type and sumac_hint_op. They return an error of the MPI's.
int create_known_operation(int kind, int flags, OpPointer op);
int hint_type(MpiDatatype type, int element);
int hint_op(MpiOp op, int kind);

// Handles with the same meaning that the program cannot free while a request is under way: the
// given ones where they are predefined, else Sumac's own.
TypedAllreduce lasting_handles(MpiDatatype type, MpiOp op);

// Before finalisation: frees those of lasting_handles().
void free_operations();

}  // namespace sumac
