// SPDX-License-Identifier: BSD-3-Clause
// What the MPI reduces beyond the standard: sums of MPI_CHAR, logical operations on Fortran's
// integers. It is asked about a pair of type and operation when the pair is met first. The answer
// depends on nothing but the MPI's version, so that ranks that compare extensions_hash() agree.
#pragma once

#include <mpi.h>

#include <cstdint>

#include "interpose/backend/type_info.h"
#include "kernels/reduce.h"

namespace sumac {

// From now on the MPI can be asked about what it makes of elements of the type; it gets a row,
// which goes into `info`. Types that are no integers of any kind get none. One thread at a time.
void add_extensions(MPI_Datatype type, TypeInfo& info);

// The kernel that does to elements of the type in this row what the MPI does, where the standard
// does not allow the operation; null where the MPI does not either, or does something else. With
// `may_ask` the MPI is asked about what is not known yet, which must not happen inside the MPI.
ReduceFn find_extension(int row, Op op, bool may_ask);

// Rows added after this call are gone with forget_extensions(): their handles may come back for
// other types.
void keep_extensions();
void forget_extensions();

// What the answers depend on.
std::uint64_t extensions_hash();

}  // namespace sumac
