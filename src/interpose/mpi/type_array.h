// SPDX-License-Identifier: BSD-3-Clause
// Parts of arrays are made by MPI_Type_create_subarray and MPI_Type_create_darray.
#pragma once

#include "interpose/mpi/type_contents.h"
#include "layout/layouts.h"

namespace sumac {

// These return the layouts, for constructors with int counts. `element` and `extent` are those of
// the array's elements.
DataLayout subarray(const TypeContents& contents, const DataLayout& element, MpiAint extent);
DataLayout darray(const TypeContents& contents, const DataLayout& element, MpiAint extent);

}  // namespace sumac
