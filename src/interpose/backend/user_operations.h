// SPDX-License-Identifier: BSD-3-Clause
// sumac_op_create and the hints of sumac.h.
#pragma once

#include "interpose/backend/messages.h"

namespace sumac {

// Handles that mean the same and that the program cannot free while a request is under way: those
// given where they are predefined, else Sumac's own.
NativeReduction lasting_handles(MPI_Datatype type, MPI_Op op);

// Before finalisation: those of lasting_handles().
void free_operations();

}  // namespace sumac
