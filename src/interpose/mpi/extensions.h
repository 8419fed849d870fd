// SPDX-License-Identifier: BSD-3-Clause
// The MPI allows some reductions beyond the standard, such as sums of MPI_CHAR, or logical
// operations on Fortran's integers. Sumac asks the MPI about a pair of type and operation when the
// pair first occurs. The answer depends only on the MPI's version, so ranks that compare
// extensions_hash() agree.
#pragma once

#include <cstdint>

#include "interpose/mpi/constants.h"
#include "interpose/mpi/type_info.h"
#include "kernels/reduce.h"

namespace sumac {

// Gives the type a row, noted in `info`, so that the MPI can be asked how it reduces the type's
// elements. Types that are no integers of any kind get none. Only one thread at a time may call
// this.
void add_extensions(MpiDatatype type, TypeInfo& info);

// Returns the kernel that does to elements of the type in this row what the MPI does, if the
// standard does not allow the operation; null if the MPI does not allow it either, or does
// something else. With `may_ask`, the MPI is asked about pairs not yet known, which must not happen
// inside the MPI.
ReduceFn find_extension(int row, Op op, bool may_ask);

// Keeps the rows added so far. forget_extensions() removes rows added later, since their handles
// may be given to other types.
void keep_extensions();
void forget_extensions();

// Returns a hash of everything the answers depend on.
std::uint64_t extensions_hash();

}  // namespace sumac
