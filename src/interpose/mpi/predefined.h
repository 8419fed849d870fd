// SPDX-License-Identifier: BSD-3-Clause
// These are the MPI's handles of predefined types and operations.
#pragma once

#include <vector>

#include "interpose/mpi/type_info.h"

namespace sumac {

struct PredefinedType {
  MpiDatatype handle;
  TypeKind kind;
};

// Returns the types that every MPI's header has, though an MPI may lack one.
std::vector<PredefinedType> predefined_types();

MpiOp predefined_op(Op op);
// Returns MPI_REPLACE and MPI_NO_OP.
std::vector<MpiOp> operations_of_one_sided_calls();

}  // namespace sumac
