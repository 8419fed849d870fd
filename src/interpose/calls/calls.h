// SPDX-License-Identifier: BSD-3-Clause
// These functions of this folder stand before those of the MPI, or are the program's to call.
#pragma once

#include "interpose/mpi/constants.h"
#include "interpose/mpi/handle_types.h"
#include "interpose/process/communicator.h"
#include "interpose/stub/stub.h"

namespace sumac {

// These put Sumac's functions in front: sumac_op_create() and what frees operations
// (user_operations.cc), and MPI_Pack and MPI_Unpack (pack.cc).
void redirect_operations(const sumac_stub& stub);
void redirect_packing(const sumac_stub& stub);

// sumac_op_create, sumac_hint_type and sumac_hint_op of sumac.h. They return an error of the
// MPI's.
int create_known_operation(int kind, int flags, OpPointer op);
int hint_type(MpiDatatype type, int element);
int hint_op(MpiOp op, int kind);

}  // namespace sumac
