// SPDX-License-Identifier: BSD-3-Clause
// MPI handles to plain values: which element type, which operation, how many packed bytes.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>

#include "base/types.h"
#include "kernels/reduce.h"
#include "observe/stats.h"

namespace sumac {

// Handles are ints in one family and pointers in the other.
template <class Handle>
std::uintptr_t handle_bits(Handle handle) {
  if constexpr (sizeof(Handle) == sizeof(std::uintptr_t)) {
    return reinterpret_cast<std::uintptr_t>(handle);
  } else {
    return static_cast<std::uint32_t>(handle);
  }
}

// A predefined type without gaps.
struct TypeInfo {
  std::size_t size = 0;
  DType dtype = DType::none;    // what it reduces as
  std::uint8_t operations = 0;  // bits of OperationClass the standard allows on it
};
enum OperationClass : std::uint8_t { kArithmetic = 1, kLogical = 2, kBitwise = 4 };

// Fills the tables; once, after the MPI's predefined handles exist.
void learn_predefined_handles();

// Null for derived types, types with gaps (MPI_DOUBLE_INT) and what is no type at all.
const TypeInfo* find_type(MPI_Datatype type);

// Op::none for predefined operations without kernels (MPI_MAXLOC, MPI_REPLACE); null for
// user-defined ones, and for what is no operation at all.
const Op* find_op(MPI_Op op);

// Why there is no kernel.
inline Reason no_kernel_reason(MPI_Op handle, const Op* op) {
  return op || handle == MPI_OP_NULL ? Reason::no_kernel : Reason::user_op;
}

// The kernel that reduces elements of the type; null where there is none, or the standard does not
// allow `op` on the type.
ReduceFn find_kernel(const TypeInfo& type, Op op);

// Packed bytes of one element of any type; false when the handle is not a type.
bool packed_size(MPI_Datatype type, std::size_t& bytes);

// True when `count` elements of the type lie in memory as they are packed: in order, no gaps,
// starting at the address given.
bool lies_packed(MPI_Datatype type);

}  // namespace sumac
