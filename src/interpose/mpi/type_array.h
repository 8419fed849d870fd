// SPDX-License-Identifier: BSD-3-Clause
// Parts of arrays: MPI_Type_create_subarray and MPI_Type_create_darray.
#pragma once

#include "interpose/mpi/type_contents.h"
#include "layout/layouts.h"

namespace sumac {

// `element` and `extent`: those of the array's elements. For constructors with int counts.
DataLayout subarray(const TypeContents& contents, const DataLayout& element, MpiAint extent);
DataLayout darray(const TypeContents& contents, const DataLayout& element, MpiAint extent);

}  // namespace sumac
