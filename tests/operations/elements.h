// SPDX-License-Identifier: BSD-3-Clause
// Element types with their parts (a complex number has two; a pair has a value and an index), the
// operations, and the expected results. Those of integers come from a serial loop, because MPIs are
// wrong there. All others come from the MPI, on numbers that are exact in any order.
#pragma once

#include <algorithm>
#include <cstring>
#include <limits>
#include <vector>

#include "base/types.h"
#include "kernels/reduce.h"
#include "mpi/check.h"
#include "mpi/data.h"
#include "mpi/integer_oracle.h"
#include "sumac/sumac.h"

namespace test {

using sumac::DType;
using sumac::Op;

struct Element {
  const char* name;
  MPI_Datatype type;
  DType dtype;
  DType parts[2];  // the second is none for a single number
};

struct Kind {
  int kind;
  Op op;
  MPI_Op predefined;
};

#define SUMAC_TEST_ELEMENT(name, dtype, ...)   \
  {                                            \
#name, name, DType::dtype, { __VA_ARGS__ } \
  }
inline std::vector<Element> elements() {
  constexpr DType kI16 = DType::i16, kI32 = DType::i32, kI64 = DType::i64, kF32 = DType::f32,
                  kF64 = DType::f64, kLong = DType::long_double, kNone = DType::none;
  return {SUMAC_TEST_ELEMENT(MPI_INT8_T, i8, DType::i8, kNone),
          SUMAC_TEST_ELEMENT(MPI_UINT8_T, u8, DType::u8, kNone),
          SUMAC_TEST_ELEMENT(MPI_SHORT, i16, kI16, kNone),
          SUMAC_TEST_ELEMENT(MPI_UNSIGNED_SHORT, u16, DType::u16, kNone),
          SUMAC_TEST_ELEMENT(MPI_INT, i32, kI32, kNone),
          SUMAC_TEST_ELEMENT(MPI_UINT32_T, u32, DType::u32, kNone),
          SUMAC_TEST_ELEMENT(MPI_LONG, i64, kI64, kNone),
          SUMAC_TEST_ELEMENT(MPI_UINT64_T, u64, DType::u64, kNone),
          SUMAC_TEST_ELEMENT(MPI_FLOAT, f32, kF32, kNone),
          SUMAC_TEST_ELEMENT(MPI_REAL, f32, kF32, kNone),
          SUMAC_TEST_ELEMENT(MPI_DOUBLE, f64, kF64, kNone),
          SUMAC_TEST_ELEMENT(MPI_DOUBLE_PRECISION, f64, kF64, kNone),
          SUMAC_TEST_ELEMENT(MPI_LONG_DOUBLE, long_double, kLong, kNone),
          SUMAC_TEST_ELEMENT(MPI_C_FLOAT_COMPLEX, c32, kF32, kF32),
          SUMAC_TEST_ELEMENT(MPI_C_DOUBLE_COMPLEX, c64, kF64, kF64),
          SUMAC_TEST_ELEMENT(MPI_DOUBLE_COMPLEX, c64, kF64, kF64),
          SUMAC_TEST_ELEMENT(MPI_C_LONG_DOUBLE_COMPLEX, c_long_double, kLong, kLong),
          SUMAC_TEST_ELEMENT(MPI_2INT, i32_i32, kI32, kI32),
          SUMAC_TEST_ELEMENT(MPI_FLOAT_INT, f32_i32, kF32, kI32),
          SUMAC_TEST_ELEMENT(MPI_2REAL, f32_f32, kF32, kF32),
          SUMAC_TEST_ELEMENT(MPI_2DOUBLE_PRECISION, f64_f64, kF64, kF64),
          SUMAC_TEST_ELEMENT(MPI_SHORT_INT, i16_i32, kI16, kI32),
          SUMAC_TEST_ELEMENT(MPI_LONG_INT, i64_i32, kI64, kI32),
          SUMAC_TEST_ELEMENT(MPI_DOUBLE_INT, f64_i32, kF64, kI32),
          SUMAC_TEST_ELEMENT(MPI_LONG_DOUBLE_INT, long_double_i32, kLong, kI32)};
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

inline void put(DType part, unsigned char* at, long number) {
  const auto store = [at](auto value) { std::memcpy(at, &value, sizeof value); };
  switch (part) {
    case DType::i16:
      return store(static_cast<std::int16_t>(number));
    case DType::i32:
      return store(static_cast<std::int32_t>(number));
    case DType::i64:
      return store(static_cast<std::int64_t>(number));
    case DType::f32:
      return store(static_cast<float>(number));
    case DType::f64:
      return store(static_cast<double>(number));
    case DType::long_double:
      return store(static_cast<long double>(number));
    default:
      std::abort();
  }
}

// Offset of the second part, in bytes.
inline std::size_t second_part(const Element& e) {
  return e.parts[1] == DType::none ? 0 : std::max(size_of(e.parts[0]), size_of(e.parts[1]));
}

// Rank `r`'s input: integers have random bits, all others are small whole numbers.
inline std::vector<unsigned char> input_of(const Element& e, std::size_t count, int r) {
  const std::size_t size = size_of(e.dtype);
  std::vector<unsigned char> bytes(count * size);
  const bool integer = info_of(e.dtype).kind == sumac::ElementKind::integer;
  const bool pair = info_of(e.dtype).kind == sumac::ElementKind::pair;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t bits = mix(i * 31 + static_cast<std::uint64_t>(r) * 1009 + 1);
    unsigned char* at = &bytes[i * size];
    if (integer) {
      std::memcpy(at, &bits, size);
      if (bits % 7 == 0) std::memset(at, 0, size);  // the value "false"
      continue;
    }
    put(e.parts[0], at, 1 + static_cast<long>(bits % 3));
    if (e.parts[1] == DType::none) continue;
    const long second =
        pair ? static_cast<long>(i % 50) + 100 * r : static_cast<long>(bits >> 8) % 3;
    put(e.parts[1], at + second_part(e), second);
  }
  return bytes;
}

// Computes left = left op right for each element.
inline void fold(const Element& e, const Kind& kind, std::vector<unsigned char>& left,
                 std::vector<unsigned char> right) {
  const auto count = static_cast<int>(left.size() / size_of(e.dtype));
  if (info_of(e.dtype).kind == sumac::ElementKind::integer) {
    const bool is_signed = e.dtype == DType::i8 || e.dtype == DType::i16 || e.dtype == DType::i32 ||
                           e.dtype == DType::i64;
    fold_integers(kind.predefined, is_signed, size_of(e.dtype), count, left.data(), right.data());
  } else {
    native().Reduce_local(left.data(), right.data(), count, e.type, kind.predefined);
    left.swap(right);
  }
}

// Ten bytes of an x87 long double hold data.
inline std::size_t data_bytes(DType part) {
  return part == DType::long_double && std::numeric_limits<long double>::digits == 64
             ? 10
             : size_of(part);
}

// Compares all bits, without gaps.
inline bool equal(const Element& e, const void* a, const void* b, std::size_t count) {
  const auto* x = static_cast<const unsigned char*>(a);
  const auto* y = static_cast<const unsigned char*>(b);
  for (std::size_t i = 0; i < count; ++i, x += size_of(e.dtype), y += size_of(e.dtype)) {
    const std::size_t second = second_part(e);
    if (std::memcmp(x, y, data_bytes(e.parts[0])) != 0) return false;
    if (second && std::memcmp(x + second, y + second, data_bytes(e.parts[1])) != 0) return false;
  }
  return true;
}

}  // namespace test
