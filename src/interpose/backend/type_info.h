// SPDX-License-Identifier: BSD-3-Clause
// What Sumac knows of a predefined type, and how it finds out.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>

#include "base/types.h"

namespace sumac {

// The standard's classes of operations.
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

// Rows of predefined_types.def.
enum class TypeKind : std::uint8_t {
#define SUMAC_TYPE_KIND(kind, operations, text) kind,
#define SUMAC_TYPE(handle, kind)
#define SUMAC_OPTIONAL_TYPE(name, kind)
#include "interpose/backend/predefined_types.def"
};

inline constexpr int kNoRow = -1;

struct TypeInfo {
  std::size_t size = 0;         // bytes of data in an element
  std::size_t extent = 0;       // bytes from one to the next
  DType dtype = DType::none;    // what it reduces as; none where the MPI must do it
  std::uint8_t operations = 0;  // OperationClass the standard allows on it
  int row = kNoRow;             // of extensions.h: what the MPI allows beyond

  bool has_gaps() const { return size != extent; }
};

// What a type of this kind is in this MPI. False when the MPI lacks it. Where size and kind leave
// open what the MPI takes an element for, its own MPI_Reduce_local is asked; without a question
// whether it accepts the type at all only if it is one that `every_mpi` has. A process that has
// begun with a session cannot ask: what is open is then the MPI's to reduce.
bool describe_type(MPI_Datatype type, TypeKind kind, bool every_mpi, TypeInfo& info);

// The type's elements are integers, truth values, text or bytes.
bool may_have_extensions(const TypeInfo& info);

// Sumac's integer of so many bytes; none where there is none.
DType integer_of(std::size_t size, bool is_signed);

// The kind of a type that is not in the table of handles: one of the optional ones, or of
// MPI_Type_create_f90_real and its likes. False for derived types.
bool find_kind(MPI_Datatype type, TypeKind& kind);

}  // namespace sumac
