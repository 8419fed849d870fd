// SPDX-License-Identifier: BSD-3-Clause
// Element types, the operations, and the expected results. Numbers other than integers are exact in
// any order.
#pragma once

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/types.h"
#include "kernels/reduce.h"
#include "mpi/check.h"
#include "mpi/data.h"
#include "sumac/sumac.h"
#include "testing/element.h"

namespace test {

using sumac::DType;
using sumac::Op;

struct Element {
  const char* name;
  MPI_Datatype type;
  DType dtype;
};

struct Kind {
  int kind;
  Op op;
  MPI_Op predefined;
};

#define SUMAC_TEST_ELEMENT(name, dtype) \
  { #name, name, DType::dtype }
inline std::vector<Element> elements() {
  return {SUMAC_TEST_ELEMENT(MPI_INT8_T, i8),
          SUMAC_TEST_ELEMENT(MPI_UINT8_T, u8),
          SUMAC_TEST_ELEMENT(MPI_SHORT, i16),
          SUMAC_TEST_ELEMENT(MPI_UNSIGNED_SHORT, u16),
          SUMAC_TEST_ELEMENT(MPI_INT, i32),
          SUMAC_TEST_ELEMENT(MPI_UINT32_T, u32),
          SUMAC_TEST_ELEMENT(MPI_LONG, i64),
          SUMAC_TEST_ELEMENT(MPI_UINT64_T, u64),
          SUMAC_TEST_ELEMENT(MPI_FLOAT, f32),
          SUMAC_TEST_ELEMENT(MPI_REAL, f32),
          SUMAC_TEST_ELEMENT(MPI_DOUBLE, f64),
          SUMAC_TEST_ELEMENT(MPI_DOUBLE_PRECISION, f64),
          SUMAC_TEST_ELEMENT(MPI_LONG_DOUBLE, long_double),
          SUMAC_TEST_ELEMENT(MPI_C_FLOAT_COMPLEX, c32),
          SUMAC_TEST_ELEMENT(MPI_C_DOUBLE_COMPLEX, c64),
          SUMAC_TEST_ELEMENT(MPI_DOUBLE_COMPLEX, c64),
          SUMAC_TEST_ELEMENT(MPI_C_LONG_DOUBLE_COMPLEX, c_long_double),
          SUMAC_TEST_ELEMENT(MPI_2INT, i32_i32),
          SUMAC_TEST_ELEMENT(MPI_FLOAT_INT, f32_i32),
          SUMAC_TEST_ELEMENT(MPI_2REAL, f32_f32),
          SUMAC_TEST_ELEMENT(MPI_2DOUBLE_PRECISION, f64_f64),
          SUMAC_TEST_ELEMENT(MPI_SHORT_INT, i16_i32),
          SUMAC_TEST_ELEMENT(MPI_LONG_INT, i64_i32),
          SUMAC_TEST_ELEMENT(MPI_DOUBLE_INT, f64_i32),
          SUMAC_TEST_ELEMENT(MPI_LONG_DOUBLE_INT, long_double_i32)};
}
#undef SUMAC_TEST_ELEMENT

inline std::vector<Kind> kinds() {
  return {{SUMAC_SUM, Op::sum, MPI_SUM},          {SUMAC_PROD, Op::prod, MPI_PROD},
          {SUMAC_MIN, Op::min, MPI_MIN},          {SUMAC_MAX, Op::max, MPI_MAX},
          {SUMAC_LAND, Op::land, MPI_LAND},       {SUMAC_LOR, Op::lor, MPI_LOR},
          {SUMAC_LXOR, Op::lxor, MPI_LXOR},       {SUMAC_BAND, Op::band, MPI_BAND},
          {SUMAC_BOR, Op::bor, MPI_BOR},          {SUMAC_BXOR, Op::bxor, MPI_BXOR},
          {SUMAC_MINLOC, Op::minloc, MPI_MINLOC}, {SUMAC_MAXLOC, Op::maxloc, MPI_MAXLOC}};
}

inline bool has_kernel(Op op, DType dtype) {
  return sumac::is_defined(op, dtype) && sumac::find_reduce(op, dtype) != nullptr;
}

// Rank `r`'s input: integers have random bits, all others are small whole numbers.
inline std::vector<unsigned char> input_of(const Element& e, std::size_t count, int r) {
  std::vector<unsigned char> all(count * size_of(e.dtype));
  sumac::oracle::with_element(e.dtype, [&]<class T>(T element) {
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t bits = mix(i * 31 + static_cast<std::uint64_t>(r) * 1009 + 1);
      if constexpr (sumac::is_integer<T>) {
        element = static_cast<T>(bits % 7 == 0 ? 0 : bits);  // 0: the value "false"
      } else {
        const bool pair = info_of(e.dtype).kind == sumac::ElementKind::pair;
        const auto second = static_cast<std::int64_t>(pair ? i % 50 + 100 * static_cast<unsigned>(r)
                                                           : (bits >> 8) % 3);
        element = sumac::oracle::Element<T>::whole(1 + static_cast<int>(bits % 3), second);
      }
      sumac::oracle::put(element, &all[i * sizeof(T)]);
    }
  });
  return all;
}

// Computes left = left op right for each element.
inline void fold(const Element& e, const Kind& kind, std::vector<unsigned char>& left,
                 const std::vector<unsigned char>& right) {
  sumac::oracle::with_element(e.dtype, [&]<class T>(T) {
    T a, b;
    for (std::size_t at = 0; at < left.size(); at += sizeof(T)) {
      std::memcpy(&a, &left[at], sizeof(T));
      std::memcpy(&b, &right[at], sizeof(T));
      sumac::oracle::put(sumac::oracle::Element<T>::apply(kind.op, a, b), &left[at]);
    }
  });
}

// Compares all bits, without gaps.
inline bool equal(const Element& e, const void* a, const void* b, std::size_t count) {
  return sumac::oracle::count_differing(e.dtype, a, b, count) == 0;
}

}  // namespace test
