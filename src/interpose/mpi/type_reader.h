// SPDX-License-Identifier: BSD-3-Clause
// Reads a datatype's layout, through MPI_Type_get_envelope and MPI_Type_get_contents.
#pragma once

#include "interpose/mpi/constants.h"
#include "layout/layouts.h"

namespace sumac {

// Returns false if the type, or one that it is made of, is of a kind that is not known here, or if
// the MPI takes one for something else than the standard says. `is_uniform` is set to what
// is_uniform() of type_layout.h returns.
bool read_layout(MpiDatatype type, DataLayout& layout, bool& is_uniform);

}  // namespace sumac
