// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/mpi/type_info.h"

#include <cstring>

#include "interpose/mpi/mpi_functions.h"
#include "interpose/mpi/type_contents.h"

namespace sumac {
namespace {

// A logical is an integer of so many bytes, of which it matters only whether they are zero.
DType logical_of(std::size_t size) { return size == 16 ? DType::i128 : integer_of(size, false); }

DType float_of(std::size_t size) {
  switch (size) {
    case 2:
      return DType::f16;
    case 4:
      return DType::f32;
    case 8:
      return DType::f64;
    default:
      return size == 16 ? DType::f128 : DType::none;
  }
}

DType complex_of(std::size_t size) {
  switch (size) {
    case 8:
      return DType::c32;
    case 16:
      return DType::c64;
    default:
      return size == 32 ? DType::c128 : DType::none;
  }
}

DType pair_of(std::size_t size, DType of_4, DType of_8) {
  return size == 8 ? of_4 : size == 16 ? of_8 : DType::none;
}

DType dtype_of(TypeKind kind, std::size_t size) {
  switch (kind) {
    case TypeKind::c_signed:
    case TypeKind::fortran_integer:
      return integer_of(size, true);
    case TypeKind::c_unsigned:
    case TypeKind::boolean:
    case TypeKind::byte:
      return integer_of(size, false);
    case TypeKind::logical:
      return logical_of(size);
    case TypeKind::floating:
      return float_of(size);
    case TypeKind::c_long_double:
      return DType::long_double;
    case TypeKind::complex:
      return complex_of(size);
    case TypeKind::c_long_double_complex:
      return DType::c_long_double;
    case TypeKind::float_int:
      return DType::f32_i32;
    case TypeKind::double_int:
      return DType::f64_i32;
    case TypeKind::long_int:
      return sizeof(long) == 8 ? DType::i64_i32 : DType::i32_i32;
    case TypeKind::two_ints:
      return pair_of(size, DType::i32_i32, DType::i64_i64);
    case TypeKind::short_int:
      return DType::i16_i32;
    case TypeKind::long_double_int:
      return DType::long_double_i32;
    case TypeKind::two_floats:
      return pair_of(size, DType::f32_f32, DType::f64_f64);
    case TypeKind::text:
      break;
  }
  return DType::none;
}

constexpr unsigned kOperations[] = {
#define SUMAC_TYPE_KIND(kind, operations, text) operations,
#define SUMAC_TYPE(handle, kind)
#define SUMAC_OPTIONAL_TYPE(name, kind)
#include "interpose/mpi/predefined_types.def"
};

// Returns true if kind and size do not say what the MPI takes an element for: this is so with
// Fortran's truth values, and sizes for which C has no type, or several.
bool is_in_doubt(TypeKind kind, DType dtype) {
  return kind == TypeKind::logical || dtype == DType::i128 || dtype == DType::f16 ||
         dtype == DType::f128 || dtype == DType::c128;
}

// Returns the element type that the MPI takes `type` for; none if it is not clear.
DType probed(MpiDatatype type, TypeKind kind, DType dtype, bool every_mpi) {
  // If there are sessions only, Open MPI 5's MPI_Reduce_local crashes.
  int initialized = 0;
  mpi.Initialized(&initialized);
  if (!initialized) return DType::none;
  if (!every_mpi && !accepts(type, kind == TypeKind::logical ? kMpi.land : kMpi.sum)) {
    return DType::none;
  }
  if (agrees_on(type, kind, dtype)) return dtype;
  // MPI_Type_create_f90_real returns the type that has the digits asked for.
  if (dtype == DType::f128 && agrees_on(type, kind, DType::long_double)) return DType::long_double;
  if (dtype == DType::c128 && agrees_on(type, kind, DType::c_long_double)) {
    return DType::c_long_double;
  }
  return DType::none;
}

bool find_kind_by_name(MpiDatatype type, TypeKind& kind) {
  static constexpr struct {
    const char* name;
    TypeKind kind;
  } kOptional[] = {
#define SUMAC_TYPE_KIND(kind, operations, text)
#define SUMAC_TYPE(handle, kind)
#define SUMAC_OPTIONAL_TYPE(name, kind) {#name, TypeKind::kind},
#include "interpose/mpi/predefined_types.def"
  };
  char name[kMostName] = "";
  int length = 0;
  if (mpi.Type_get_name(type, name, &length) != kMpiSuccess) return false;
  for (const auto& row : kOptional) {
    if (std::strcmp(row.name, name) != 0) continue;
    kind = row.kind;
    return true;
  }
  return false;
}

}  // namespace

DType integer_of(std::size_t size, bool is_signed) {
  switch (size) {
    case 1:
      return is_signed ? DType::i8 : DType::u8;
    case 2:
      return is_signed ? DType::i16 : DType::u16;
    case 4:
      return is_signed ? DType::i32 : DType::u32;
    case 8:
      return is_signed ? DType::i64 : DType::u64;
    case 16:
      return is_signed ? DType::i128 : DType::none;
    default:
      return DType::none;
  }
}

bool may_have_extensions(const TypeInfo& info) {
  const bool no_integer = info.operations == kArithmetic || info.operations == kLocation;
  return !no_integer && !info.has_gaps() && integer_of(info.size, true) != DType::none;
}

bool describe_type(MpiDatatype type, TypeKind kind, bool every_mpi, TypeInfo& info) {
  if (type == kMpi.datatype_null) return false;
  int size = 0;
  MpiAint lower = 0, extent = 0;
  if (mpi.Type_size(type, &size) != kMpiSuccess || size <= 0) return false;
  if (mpi.Type_get_extent(type, &lower, &extent) != kMpiSuccess) return false;
  if (lower != 0 || extent < size) return false;
  info.size = static_cast<std::size_t>(size);
  info.extent = static_cast<std::size_t>(extent);
  info.row = kNoRow;
  info.dtype = dtype_of(kind, info.size);
  info.operations = static_cast<std::uint8_t>(kOperations[static_cast<int>(kind)]);
  if (is_in_doubt(kind, info.dtype)) {
    info.dtype = probed(type, kind, info.dtype, every_mpi);
  }
  if (size_of(info.dtype) != info.extent) info.dtype = DType::none;
  return true;
}

bool find_kind(MpiDatatype type, TypeKind& kind) {
  TypeEnvelope envelope;
  if (!read_envelope(type, envelope)) return false;
  const int combiner = envelope.combiner;
  if (combiner == kMpi.combiner_named) return find_kind_by_name(type, kind);
  if (combiner == kMpi.combiner_f90_real) {
    kind = TypeKind::floating;
  } else if (combiner == kMpi.combiner_f90_complex) {
    kind = TypeKind::complex;
  } else if (combiner == kMpi.combiner_f90_integer) {
    kind = TypeKind::fortran_integer;
  } else {
    return false;
  }
  return true;
}

}  // namespace sumac
