// SPDX-License-Identifier: BSD-3-Clause
// This header turns MPI handles into plain values: the element type, the operation, the number of
// packed bytes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "interpose/mpi/constants.h"
#include "interpose/mpi/type_info.h"
#include "kernels/reduce.h"
#include "observe/stats.h"

namespace sumac {

// Fills the tables. Must be called once, after the MPI's predefined handles exist.
void learn_predefined_handles();

// Returns a hash of what these tables say and of what later look-ups can add, for ranks to compare.
std::uint64_t known_types_hash();

// Returns what is known of a predefined type, or of a type made by MPI_Type_create_f90_real or its
// siblings; null for derived types and for handles of no type. The MPI is asked about types not met
// before. The result is valid until the thread's next look-up.
const TypeInfo* find_type(MpiDatatype type);

// Does the same only for types met before, without asking the MPI.
const TypeInfo* find_known_type(MpiDatatype type);

// Must be called at finalisation. A later session may give the handles of
// MPI_Type_create_f90_real's types to others.
void forget_handles();

// Returns Op::none for MPI_REPLACE and MPI_NO_OP, which are for one-sided communication (in a
// reduction every MPI met so far calls them an error, MPI_ERR_OP). Returns null for user-defined
// operations, and for a handle of no operation.
const Op* find_op(MpiOp op);

// Returns the MPI's handle of the operation.
MpiOp handle_of(Op op);

// Returns the kernel that reduces elements of the type; null if neither the standard nor the MPI
// allows `op` on the type, or if it is not clear what the MPI takes an element for. With `may_ask`,
// the MPI is asked what it allows beyond the standard; this must not happen inside the MPI.
ReduceFn find_kernel(const TypeInfo& type, Op op, bool may_ask = true);

// Finds the packed bytes of one element of any type. Returns false if the handle is not a type.
bool packed_size(MpiDatatype type, std::size_t& bytes);

// Returns true if any number of elements of the type lie in memory as they are packed: in order,
// without gaps, starting at the address given.
bool lies_packed(MpiDatatype type);

// The MPI allows some reductions beyond the standard, such as sums of MPI_CHAR, or logical
// operations on Fortran's integers. Sumac asks the MPI about a pair of type and operation when the
// pair first occurs. The answer depends only on the MPI's version, so ranks that compare
// extensions_hash() agree.

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
