// SPDX-License-Identifier: BSD-3-Clause
// The predefined types and operations of the standard: the element format of each type, and the
// operations allowed on it.
#pragma once

#include <mpi.h>

#include <vector>

#include "base/types.h"

namespace test {

using sumac::DType;
using sumac::Op;

enum Allowed : unsigned {
  kNothing = 0,
  kArithmetic = 1,
  kLogical = 2,
  kBitwise = 4,
  kLocation = 8
};

struct Predefined {
  const char* name;
  MPI_Datatype type;
  unsigned allowed;  // classes of operations
  DType dtype;       // element format, if the MPI has the same
};

#define SUMAC_TEST_TYPE(name, allowed, dtype) \
  { #name, name, allowed, DType::dtype }
inline std::vector<Predefined> integer_types() {
  constexpr unsigned kC = kArithmetic | kLogical | kBitwise, kFortran = kArithmetic | kBitwise;
  return {
      SUMAC_TEST_TYPE(MPI_SIGNED_CHAR, kC, i8),
      SUMAC_TEST_TYPE(MPI_SHORT, kC, i16),
      SUMAC_TEST_TYPE(MPI_INT, kC, i32),
      SUMAC_TEST_TYPE(MPI_LONG, kC, i64),
      SUMAC_TEST_TYPE(MPI_LONG_LONG, kC, i64),
      SUMAC_TEST_TYPE(MPI_UNSIGNED_CHAR, kC, u8),
      SUMAC_TEST_TYPE(MPI_UNSIGNED_SHORT, kC, u16),
      SUMAC_TEST_TYPE(MPI_UNSIGNED, kC, u32),
      SUMAC_TEST_TYPE(MPI_UNSIGNED_LONG, kC, u64),
      SUMAC_TEST_TYPE(MPI_UNSIGNED_LONG_LONG, kC, u64),
      SUMAC_TEST_TYPE(MPI_INT8_T, kC, i8),
      SUMAC_TEST_TYPE(MPI_INT16_T, kC, i16),
      SUMAC_TEST_TYPE(MPI_INT32_T, kC, i32),
      SUMAC_TEST_TYPE(MPI_INT64_T, kC, i64),
      SUMAC_TEST_TYPE(MPI_UINT8_T, kC, u8),
      SUMAC_TEST_TYPE(MPI_UINT16_T, kC, u16),
      SUMAC_TEST_TYPE(MPI_UINT32_T, kC, u32),
      SUMAC_TEST_TYPE(MPI_UINT64_T, kC, u64),
      SUMAC_TEST_TYPE(MPI_AINT, kFortran, i64),
      SUMAC_TEST_TYPE(MPI_OFFSET, kFortran, i64),
      SUMAC_TEST_TYPE(MPI_COUNT, kFortran, i64),
      SUMAC_TEST_TYPE(MPI_INTEGER, kFortran, i32),
      SUMAC_TEST_TYPE(MPI_INTEGER1, kFortran, i8),
      SUMAC_TEST_TYPE(MPI_INTEGER2, kFortran, i16),
      SUMAC_TEST_TYPE(MPI_INTEGER4, kFortran, i32),
      SUMAC_TEST_TYPE(MPI_INTEGER8, kFortran, i64),
#ifdef MPI_INTEGER16
      SUMAC_TEST_TYPE(MPI_INTEGER16, kFortran, i128),
#endif
      SUMAC_TEST_TYPE(MPI_BYTE, kBitwise, u8),
  };
}

// C's truth types count as unsigned, and only their values 0 and 1 are valid. Fortran's is signed.
inline std::vector<Predefined> truth_types() {
  return {
      SUMAC_TEST_TYPE(MPI_C_BOOL, kLogical, u8),      SUMAC_TEST_TYPE(MPI_CXX_BOOL, kLogical, u8),
      SUMAC_TEST_TYPE(MPI_LOGICAL, kLogical, i32),
#ifdef MPI_LOGICAL1
      SUMAC_TEST_TYPE(MPI_LOGICAL1, kLogical, i8),
#endif
#ifdef MPI_LOGICAL2
      SUMAC_TEST_TYPE(MPI_LOGICAL2, kLogical, i16),
#endif
#ifdef MPI_LOGICAL4
      SUMAC_TEST_TYPE(MPI_LOGICAL4, kLogical, i32),
#endif
#ifdef MPI_LOGICAL8
      SUMAC_TEST_TYPE(MPI_LOGICAL8, kLogical, i64),
#endif
#ifdef MPI_LOGICAL16
      SUMAC_TEST_TYPE(MPI_LOGICAL16, kLogical, i128),
#endif
  };
}

inline std::vector<Predefined> number_types() {
  return {
      SUMAC_TEST_TYPE(MPI_FLOAT, kArithmetic, f32),
      SUMAC_TEST_TYPE(MPI_DOUBLE, kArithmetic, f64),
      SUMAC_TEST_TYPE(MPI_LONG_DOUBLE, kArithmetic, long_double),
      SUMAC_TEST_TYPE(MPI_REAL, kArithmetic, f32),
      SUMAC_TEST_TYPE(MPI_DOUBLE_PRECISION, kArithmetic, f64),
      SUMAC_TEST_TYPE(MPI_REAL4, kArithmetic, f32),
      SUMAC_TEST_TYPE(MPI_REAL8, kArithmetic, f64),
#ifdef MPI_REAL2
      SUMAC_TEST_TYPE(MPI_REAL2, kArithmetic, f16),
#endif
#ifdef MPI_REAL16
      SUMAC_TEST_TYPE(MPI_REAL16, kArithmetic, f128),
#endif
      SUMAC_TEST_TYPE(MPI_COMPLEX, kArithmetic, c32),
      SUMAC_TEST_TYPE(MPI_DOUBLE_COMPLEX, kArithmetic, c64),
      SUMAC_TEST_TYPE(MPI_C_COMPLEX, kArithmetic, c32),
      SUMAC_TEST_TYPE(MPI_C_FLOAT_COMPLEX, kArithmetic, c32),
      SUMAC_TEST_TYPE(MPI_C_DOUBLE_COMPLEX, kArithmetic, c64),
      SUMAC_TEST_TYPE(MPI_C_LONG_DOUBLE_COMPLEX, kArithmetic, c_long_double),
      SUMAC_TEST_TYPE(MPI_CXX_FLOAT_COMPLEX, kArithmetic, c32),
      SUMAC_TEST_TYPE(MPI_CXX_DOUBLE_COMPLEX, kArithmetic, c64),
      SUMAC_TEST_TYPE(MPI_CXX_LONG_DOUBLE_COMPLEX, kArithmetic, c_long_double),
      SUMAC_TEST_TYPE(MPI_COMPLEX8, kArithmetic, c32),
      SUMAC_TEST_TYPE(MPI_COMPLEX16, kArithmetic, c64),
#ifdef MPI_COMPLEX32
      SUMAC_TEST_TYPE(MPI_COMPLEX32, kArithmetic, c128),
#endif
  };
}

inline std::vector<Predefined> pair_types() {
  return {
      SUMAC_TEST_TYPE(MPI_FLOAT_INT, kLocation, f32_i32),
      SUMAC_TEST_TYPE(MPI_DOUBLE_INT, kLocation, f64_i32),
      SUMAC_TEST_TYPE(MPI_LONG_INT, kLocation, i64_i32),
      SUMAC_TEST_TYPE(MPI_2INT, kLocation, i32_i32),
      SUMAC_TEST_TYPE(MPI_SHORT_INT, kLocation, i16_i32),
      SUMAC_TEST_TYPE(MPI_LONG_DOUBLE_INT, kLocation, long_double_i32),
      SUMAC_TEST_TYPE(MPI_2REAL, kLocation, f32_f32),
      SUMAC_TEST_TYPE(MPI_2DOUBLE_PRECISION, kLocation, f64_f64),
      SUMAC_TEST_TYPE(MPI_2INTEGER, kLocation, i32_i32),
  };
}

inline std::vector<Predefined> other_types() {
  return {
      SUMAC_TEST_TYPE(MPI_CHAR, kNothing, none),
      SUMAC_TEST_TYPE(MPI_WCHAR, kNothing, none),
      SUMAC_TEST_TYPE(MPI_CHARACTER, kNothing, none),
      SUMAC_TEST_TYPE(MPI_PACKED, kNothing, none),
  };
}
#undef SUMAC_TEST_TYPE

// Types made for the digits and the range that a program asks for. An MPI supports some of them;
// for the others it returns an error, and the type is MPI_DATATYPE_NULL.
inline std::vector<Predefined> f90_types() {
  std::vector<Predefined> all;
  const auto add = [&](const char* name, unsigned allowed, DType dtype, auto create) {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    if (create(&type) != MPI_SUCCESS) type = MPI_DATATYPE_NULL;
    all.push_back({name, type, allowed, dtype});
  };
  const auto add_integer = [&](const char* name, int digits, DType dtype) {
    add(name, kArithmetic | kBitwise, dtype,
        [=](MPI_Datatype* type) { return MPI_Type_create_f90_integer(digits, type); });
  };
  const auto add_real = [&](const char* name, int digits, int range, DType dtype) {
    add(name, kArithmetic, dtype,
        [=](MPI_Datatype* type) { return MPI_Type_create_f90_real(digits, range, type); });
  };
  const auto add_complex = [&](const char* name, int digits, int range, DType dtype) {
    add(name, kArithmetic, dtype,
        [=](MPI_Datatype* type) { return MPI_Type_create_f90_complex(digits, range, type); });
  };
  add_integer("integer of 2 digits", 2, DType::i8);
  add_integer("integer of 4 digits", 4, DType::i16);
  add_integer("integer of 9 digits", 9, DType::i32);
  add_integer("integer of 18 digits", 18, DType::i64);
  add_integer("integer of 30 digits", 30, DType::i128);
  add_real("real of 6 digits", 6, 30, DType::f32);
  add_real("real of 15 digits", 15, 300, DType::f64);
  add_real("real of 18 digits", 18, 400, DType::f128);
  add_real("real of 33 digits", 33, 4000, DType::f128);
  add_complex("complex of 6 digits", 6, 30, DType::c32);
  add_complex("complex of 15 digits", 15, 300, DType::c64);
  add_complex("complex of 18 digits", 18, 400, DType::c128);
  return all;
}

// The predefined types that this MPI has.
inline std::vector<Predefined> predefined_types() {
  std::vector<Predefined> all;
  for (const auto& types :
       {integer_types(), truth_types(), number_types(), pair_types(), other_types(), f90_types()}) {
    for (const Predefined& p : types) {
      int size = 0;
      if (p.type != MPI_DATATYPE_NULL) MPI_Type_size(p.type, &size);
      if (size > 0) all.push_back(p);
    }
  }
  return all;
}

struct PredefinedOp {
  const char* name;
  MPI_Op handle;
  unsigned needs;
  Op op;
};

inline std::vector<PredefinedOp> operations() {
  return {{"SUM", MPI_SUM, kArithmetic, Op::sum},
          {"PROD", MPI_PROD, kArithmetic, Op::prod},
          {"MIN", MPI_MIN, kArithmetic, Op::min},
          {"MAX", MPI_MAX, kArithmetic, Op::max},
          {"LAND", MPI_LAND, kLogical, Op::land},
          {"LOR", MPI_LOR, kLogical, Op::lor},
          {"LXOR", MPI_LXOR, kLogical, Op::lxor},
          {"BAND", MPI_BAND, kBitwise, Op::band},
          {"BOR", MPI_BOR, kBitwise, Op::bor},
          {"BXOR", MPI_BXOR, kBitwise, Op::bxor},
          {"MINLOC", MPI_MINLOC, kLocation, Op::minloc},
          {"MAXLOC", MPI_MAXLOC, kLocation, Op::maxloc},
          // MPI_REPLACE is for one-sided communication: every MPI tested so far refuses it in
          // reductions.
          {"REPLACE", MPI_REPLACE, kNothing, Op::none},
          {"NO_OP", MPI_NO_OP, kNothing, Op::none}};
}

}  // namespace test
