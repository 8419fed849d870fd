// SPDX-License-Identifier: BSD-3-Clause
// This header has what Sumac knows about a predefined type, and how it finds out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/types.h"
#include "interpose/mpi/constants.h"

namespace sumac {

// The standard has these classes of operations.
enum OperationClass : std::uint8_t {
  kNoOperation = 0,
  kArithmetic = 1,
  kLogical = 2,
  kBitwise = 4,
  kLocation = 8
};

constexpr unsigned class_of(Op op) {
  if (op <= Op::max) return kArithmetic;
  if (op <= Op::lxor) return kLogical;
  if (op <= Op::bxor) return kBitwise;
  return op < Op::none ? kLocation : 0;
}

// The kinds are rows of predefined_types.def.
enum class TypeKind : std::uint8_t {
#define SUMAC_TYPE_KIND(kind, operations, text) kind,
#define SUMAC_TYPE(handle, kind)
#define SUMAC_OPTIONAL_TYPE(name, kind)
#include "interpose/mpi/predefined_types.def"
};

inline constexpr int kNoRow = -1;

struct TypeInfo {
  std::size_t size = 0;         // bytes of data in an element
  std::size_t extent = 0;       // bytes from one element to the next
  DType dtype = DType::none;    // element type that it reduces as; none if the MPI must do it
  std::uint8_t operations = 0;  // OperationClass bits that the standard allows on it
  int row = kNoRow;             // row in extensions.cc, which has what the MPI allows beyond

  bool has_gaps() const { return size != extent; }
};

// Describes what a type of this kind is in this MPI. Returns false if the MPI lacks it. If size and
// kind leave open what the MPI takes an element for, its own MPI_Reduce_local is asked; for a type
// that `every_mpi` has, it is not first asked whether the MPI accepts the type. A process that has
// begun with a session cannot ask: the MPI then has to reduce such types.
bool describe_type(MpiDatatype type, TypeKind kind, bool every_mpi, TypeInfo& info);

// Returns true if the type's elements are integers, truth values, text or bytes.
bool may_have_extensions(const TypeInfo& info);

// Returns Sumac's integer of `size` bytes; none if there is none.
DType integer_of(std::size_t size, bool is_signed);

// Finds the kind of a type that is not in the table of handles: an optional type, or one made by
// MPI_Type_create_f90_real or its siblings. Returns false for derived types.
bool find_kind(MpiDatatype type, TypeKind& kind);

// These are the MPI's handles of predefined types and operations.

struct PredefinedType {
  MpiDatatype handle;
  TypeKind kind;
};

// Returns the types that every MPI's header has, though an MPI may lack one.
std::vector<PredefinedType> predefined_types();

MpiOp predefined_op(Op op);
// Returns MPI_REPLACE and MPI_NO_OP.
std::vector<MpiOp> operations_of_one_sided_calls();

// The functions from here on ask the MPI what it takes an element of a type for, by reducing a few
// of them.

// Returns true if the MPI reduces elements of the type with the operation. Calls no error handler
// of the program's; returns false if there is no self_communicator() to ask on.
bool accepts(MpiDatatype type, MpiOp op);

// Returns the integer, of the type's `size` in bytes, as which the MPI reduces elements of a
// predefined type: by min and max, one with the same sign; by logical operations, one for which any
// value but zero is true and the result is 0 or 1. Returns none if the MPI does not accept the pair
// or does anything else. It tests that sums and products of single elements wrap, and assumes that
// they always do, as for the standard's integers.
DType meaning_of(MpiDatatype type, std::size_t size, Op op);

// Returns true if the MPI's own MPI_Reduce_local does to elements of the type, which it accepts,
// what the kernel for `dtype` does. For logical kinds, any value but zero must be true, and the
// result 0 or 1. For other kinds, the sum must be right of numbers that another representation of
// the same size would get wrong.
bool agrees_on(MpiDatatype type, TypeKind kind, DType dtype);

}  // namespace sumac
