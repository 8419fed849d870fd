// SPDX-License-Identifier: BSD-3-Clause
// The predefined types and operations of the standard, and which operations it allows on which.
#pragma once

#include <mpi.h>

#include <complex>
#include <vector>

namespace test {

enum Allowed : unsigned { kNothing = 0, kArithmetic = 1, kLogical = 2, kBitwise = 4, kPairs = 8 };

// How elements are filled: any bits of an integer, small numbers (so that sums are exact), truth
// values, or a number and an index.
enum class Fill {
  signed_bits,
  unsigned_bits,
  small_float,
  small_double,
  small_long_double,
  truth,
  pair
};

struct Predefined {
  const char* name;
  MPI_Datatype type;
  unsigned allowed;  // on what Sumac has kernels for
  Fill fill;
};

#define SUMAC_TEST_TYPE(name, allowed, fill) \
  { #name, name, allowed, Fill::fill }
inline std::vector<Predefined> integer_types() {
  constexpr unsigned kC = kArithmetic | kLogical | kBitwise, kFortran = kArithmetic | kBitwise;
  return {
      SUMAC_TEST_TYPE(MPI_SIGNED_CHAR, kC, signed_bits),
      SUMAC_TEST_TYPE(MPI_SHORT, kC, signed_bits),
      SUMAC_TEST_TYPE(MPI_INT, kC, signed_bits),
      SUMAC_TEST_TYPE(MPI_LONG, kC, signed_bits),
      SUMAC_TEST_TYPE(MPI_LONG_LONG, kC, signed_bits),
      SUMAC_TEST_TYPE(MPI_UNSIGNED_CHAR, kC, unsigned_bits),
      SUMAC_TEST_TYPE(MPI_UNSIGNED_SHORT, kC, unsigned_bits),
      SUMAC_TEST_TYPE(MPI_UNSIGNED, kC, unsigned_bits),
      SUMAC_TEST_TYPE(MPI_UNSIGNED_LONG, kC, unsigned_bits),
      SUMAC_TEST_TYPE(MPI_UNSIGNED_LONG_LONG, kC, unsigned_bits),
      SUMAC_TEST_TYPE(MPI_INT8_T, kC, signed_bits),
      SUMAC_TEST_TYPE(MPI_INT16_T, kC, signed_bits),
      SUMAC_TEST_TYPE(MPI_INT32_T, kC, signed_bits),
      SUMAC_TEST_TYPE(MPI_INT64_T, kC, signed_bits),
      SUMAC_TEST_TYPE(MPI_UINT8_T, kC, unsigned_bits),
      SUMAC_TEST_TYPE(MPI_UINT16_T, kC, unsigned_bits),
      SUMAC_TEST_TYPE(MPI_UINT32_T, kC, unsigned_bits),
      SUMAC_TEST_TYPE(MPI_UINT64_T, kC, unsigned_bits),
      SUMAC_TEST_TYPE(MPI_AINT, kFortran, signed_bits),
      SUMAC_TEST_TYPE(MPI_OFFSET, kFortran, signed_bits),
      SUMAC_TEST_TYPE(MPI_COUNT, kFortran, signed_bits),
      SUMAC_TEST_TYPE(MPI_INTEGER, kFortran, signed_bits),
      SUMAC_TEST_TYPE(MPI_INTEGER1, kFortran, signed_bits),
      SUMAC_TEST_TYPE(MPI_INTEGER2, kFortran, signed_bits),
      SUMAC_TEST_TYPE(MPI_INTEGER4, kFortran, signed_bits),
      SUMAC_TEST_TYPE(MPI_INTEGER8, kFortran, signed_bits),
      SUMAC_TEST_TYPE(MPI_BYTE, kBitwise, unsigned_bits),
      SUMAC_TEST_TYPE(MPI_C_BOOL, kLogical, truth),
  };
}

inline std::vector<Predefined> other_types() {
  return {
      SUMAC_TEST_TYPE(MPI_FLOAT, kArithmetic, small_float),
      SUMAC_TEST_TYPE(MPI_DOUBLE, kArithmetic, small_double),
      SUMAC_TEST_TYPE(MPI_REAL, kArithmetic, small_float),
      SUMAC_TEST_TYPE(MPI_DOUBLE_PRECISION, kArithmetic, small_double),
      SUMAC_TEST_TYPE(MPI_REAL4, kArithmetic, small_float),
      SUMAC_TEST_TYPE(MPI_REAL8, kArithmetic, small_double),
      SUMAC_TEST_TYPE(MPI_LONG_DOUBLE, kNothing, small_long_double),
      SUMAC_TEST_TYPE(MPI_CHAR, kNothing, unsigned_bits),
      SUMAC_TEST_TYPE(MPI_WCHAR, kNothing, unsigned_bits),
      SUMAC_TEST_TYPE(MPI_CHARACTER, kNothing, unsigned_bits),
      SUMAC_TEST_TYPE(MPI_PACKED, kNothing, unsigned_bits),
      SUMAC_TEST_TYPE(MPI_LOGICAL, kNothing, truth),
      SUMAC_TEST_TYPE(MPI_COMPLEX, kNothing, small_float),
      SUMAC_TEST_TYPE(MPI_DOUBLE_COMPLEX, kNothing, small_double),
      SUMAC_TEST_TYPE(MPI_C_FLOAT_COMPLEX, kNothing, small_float),
      SUMAC_TEST_TYPE(MPI_C_DOUBLE_COMPLEX, kNothing, small_double),
      SUMAC_TEST_TYPE(MPI_C_LONG_DOUBLE_COMPLEX, kNothing, small_long_double),
      SUMAC_TEST_TYPE(MPI_FLOAT_INT, kPairs, pair),
      SUMAC_TEST_TYPE(MPI_DOUBLE_INT, kPairs, pair),
      SUMAC_TEST_TYPE(MPI_LONG_INT, kPairs, pair),
      SUMAC_TEST_TYPE(MPI_SHORT_INT, kPairs, pair),
      SUMAC_TEST_TYPE(MPI_2INT, kPairs, pair),
      SUMAC_TEST_TYPE(MPI_LONG_DOUBLE_INT, kPairs, pair),
      SUMAC_TEST_TYPE(MPI_2INTEGER, kPairs, pair),
      SUMAC_TEST_TYPE(MPI_2REAL, kNothing, small_float),
      SUMAC_TEST_TYPE(MPI_2DOUBLE_PRECISION, kNothing, small_double),
  };
}
#undef SUMAC_TEST_TYPE

struct PredefinedOp {
  const char* name;
  MPI_Op op;
  unsigned needs;
};

inline std::vector<PredefinedOp> operations() {
  return {{"SUM", MPI_SUM, kArithmetic},  {"PROD", MPI_PROD, kArithmetic},
          {"MIN", MPI_MIN, kArithmetic},  {"MAX", MPI_MAX, kArithmetic},
          {"LAND", MPI_LAND, kLogical},   {"LOR", MPI_LOR, kLogical},
          {"LXOR", MPI_LXOR, kLogical},   {"BAND", MPI_BAND, kBitwise},
          {"BOR", MPI_BOR, kBitwise},     {"BXOR", MPI_BXOR, kBitwise},
          {"MINLOC", MPI_MINLOC, kPairs}, {"MAXLOC", MPI_MAXLOC, kPairs}};
}

}  // namespace test
