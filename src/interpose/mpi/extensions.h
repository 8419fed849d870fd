// SPDX-License-Identifier: BSD-3-Clause
// Reductions that the MPI allows beyond the standard: sums of MPI_CHAR, logical operations on
// Fortran's integers. It is asked about a pair of type and operation when the pair first occurs.
// The answer depends only on the MPI's version, so ranks that compare extensions_hash() agree.
#pragma once

#include <cstdint>

#include "interpose/mpi/constants.h"
#include "interpose/mpi/type_info.h"
#include "kernels/reduce.h"

namespace sumac {

// Gives the type a row, noted in `info`, so that the MPI can be asked how it reduces the type's
// elements. Types that are no integers of any kind get none. One thread at a time.
void add_extensions(MpiDatatype type, TypeInfo& info);

// The kernel that does to elements of the type in this row what the MPI does, where the standard
// does not allow the operation; null where the MPI does not allow it either, or does something
// else. With `may_ask`, the MPI is asked about pairs not yet known, which must not happen inside
// the MPI.
ReduceFn find_extension(int row, Op op, bool may_ask);

// Keeps the rows added so far. Rows added later are removed by forget_extensions(): their handles
// may be given to other types.
void keep_extensions();
void forget_extensions();

// A hash of everything the answers depend on.
std::uint64_t extensions_hash();

}  // namespace sumac
