// SPDX-License-Identifier: BSD-3-Clause
// sumac_op_create, sumac_hint_type and sumac_hint_op of sumac.h are here. They return an error of
// the MPI's.
#pragma once

#include "interpose/mpi/handle_types.h"

namespace sumac {

int create_known_operation(int kind, int flags, OpPointer op);
int hint_type(MpiDatatype type, int element);
int hint_op(MpiOp op, int kind);

}  // namespace sumac
