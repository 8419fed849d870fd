// SPDX-License-Identifier: BSD-3-Clause
// Elements of every predefined type, and the expected result of an operation on them. Integers have
// random bits. All other numbers are small and whole, so every format holds them exactly and every
// order of additions gives the same sum: the test computes with ints and converts them to each
// format.
#pragma once

#include <mpi.h>

#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>

#include "data.h"
#include "integer_oracle.h"
#include "predefined.h"

namespace test {

// The members of an element: one number, or two of the same or of different types.
struct Members {
  DType first, second;  // second: none for a single number
  std::size_t place;    // of the second, in bytes
  std::size_t extent;
};

inline Members members_of(DType dtype) {
  constexpr std::size_t kLongDouble = sizeof(long double);
  switch (dtype) {
    case DType::c32:
    case DType::f32_f32:
      return {DType::f32, DType::f32, 4, 8};
    case DType::c64:
    case DType::f64_f64:
      return {DType::f64, DType::f64, 8, 16};
    case DType::c_long_double:
      return {DType::long_double, DType::long_double, kLongDouble, 2 * kLongDouble};
    case DType::c128:
      return {DType::f128, DType::f128, 16, 32};
    case DType::i32_i32:
      return {DType::i32, DType::i32, 4, 8};
    case DType::f32_i32:
      return {DType::f32, DType::i32, 4, 8};
    case DType::i16_i32:
      return {DType::i16, DType::i32, 4, 8};
    case DType::i64_i32:
      return {DType::i64, DType::i32, 8, 16};
    case DType::f64_i32:
      return {DType::f64, DType::i32, 8, 16};
    case DType::long_double_i32:
      return {DType::long_double, DType::i32, kLongDouble, 2 * kLongDouble};
    default:
      return {dtype, DType::none, 0, sumac::size_of(dtype)};
  }
}

// The bits of a small whole number in an IEEE format that the standard library lacks. A `Word`
// holds sign, exponent and leading mantissa bits; the remaining mantissa bits of so small a number
// are zero.
template <class Word>
Word ieee_bits(int number, int exponent_bits, int word_bits) {
  if (number == 0) return 0;
  const auto magnitude = static_cast<std::uint64_t>(number < 0 ? -number : number);
  const int exponent = std::bit_width(magnitude) - 1, mantissa_bits = word_bits - 1 - exponent_bits;
  const std::uint64_t biased =
      static_cast<std::uint64_t>(exponent + (1 << (exponent_bits - 1)) - 1);
  const std::uint64_t mantissa =
      (magnitude << (mantissa_bits - exponent)) & ((std::uint64_t{1} << mantissa_bits) - 1);
  return static_cast<Word>((number < 0 ? std::uint64_t{1} << (word_bits - 1) : 0) |
                           biased << mantissa_bits | mantissa);
}

template <class T>
void put_as(int number, unsigned char* at, std::size_t bytes = sizeof(T)) {
  const T value = static_cast<T>(number);
  std::memcpy(at, &value, bytes);
}

inline constexpr std::size_t kLongDoubleData =
    std::numeric_limits<long double>::digits == 64 ? 10 : sizeof(long double);

// Writes the number in this format. Padding bytes are not written.
inline void put(DType format, int number, unsigned char* at) {
  switch (format) {
    case DType::i16:
      return put_as<std::int16_t>(number, at);
    case DType::i32:
      return put_as<std::int32_t>(number, at);
    case DType::i64:
      return put_as<std::int64_t>(number, at);
    case DType::f32:
      return put_as<float>(number, at);
    case DType::f64:
      return put_as<double>(number, at);
    case DType::long_double:
      return put_as<long double>(number, at, kLongDoubleData);
    case DType::f16: {
      const auto bits = ieee_bits<std::uint16_t>(number, 5, 16);
      std::memcpy(at, &bits, sizeof bits);
      return;
    }
    case DType::f128: {
      const std::uint64_t words[] = {0, ieee_bits<std::uint64_t>(number, 15, 64)};
      std::memcpy(at, words, sizeof words);
      return;
    }
    default:
      return;
  }
}

// A real number (in `a`), a complex number, or a value and an index.
struct Small {
  int a, b;
};

inline Small combine_small(Op op, bool is_complex, Small x, Small y) {
  const bool tie = x.a == y.a;
  switch (op) {
    case Op::sum:
      return {x.a + y.a, x.b + y.b};
    case Op::prod:
      if (!is_complex) return {x.a * y.a, 0};
      return {x.a * y.a - x.b * y.b, x.a * y.b + x.b * y.a};
    case Op::min:
      return x.a < y.a ? x : y;
    case Op::max:
      return x.a > y.a ? x : y;
    case Op::minloc:
      return x.a < y.a || (tie && x.b < y.b) ? x : y;
    default:
      return x.a > y.a || (tie && x.b < y.b) ? x : y;
  }
}

// The elements of one type: rank `r`'s input, and the expected result.
class Elements {
 public:
  Elements(const Predefined& p, DType dtype)
      : dtype_(dtype), members_(members_of(dtype)), truth_(p.allowed == kLogical) {
    const auto kind = sumac::info_of(dtype).kind;
    integer_ = kind == sumac::ElementKind::integer;
    complex_ = kind == sumac::ElementKind::complex;
    signed_ = dtype == DType::i8 || dtype == DType::i16 || dtype == DType::i32 ||
              dtype == DType::i64 || dtype == DType::i128;
  }
  std::size_t extent() const { return members_.extent; }

  // Writes the input of rank `r`. Bytes that hold no data are left as they are.
  void fill(unsigned char* at, std::size_t count, int r, std::uint64_t seed) const {
    for (std::size_t i = 0; i < count; ++i, at += members_.extent) {
      if (integer_) {
        put_integer(at, mix(seed + i * 64 + static_cast<unsigned>(r)));
      } else {
        put_small(at, small(i, r, seed));
      }
    }
  }

  // Writes the fold of the inputs of ranks `first` to `last`, in this order.
  void fold(unsigned char* at, std::size_t count, int first, int last, std::uint64_t seed,
            const PredefinedOp& op) const {
    for (std::size_t i = 0; i < count; ++i, at += members_.extent) {
      if (integer_) {
        fold_integer(at, i, first, last, seed, op.handle);
      } else {
        Small result = small(i, first, seed);
        for (int r = first + 1; r <= last; ++r) {
          result = combine_small(op.op, complex_, result, small(i, r, seed));
        }
        put_small(at, result);
      }
    }
  }

  // Compares all bytes, gaps between members included, but not the padding inside a long double.
  bool equal(const unsigned char* a, const unsigned char* b, std::size_t count) const {
    if (std::memcmp(a, b, count * members_.extent) == 0) return true;
    for (std::size_t i = 0; i < count * members_.extent; ++i) {
      if (a[i] != b[i] && !is_padding(i % members_.extent)) return false;
    }
    return true;
  }

 private:
  bool is_padding(std::size_t place) const {
    const bool second = members_.second != DType::none && place >= members_.place;
    if ((second ? members_.second : members_.first) != DType::long_double) return false;
    return place % sizeof(long double) >= kLongDoubleData;
  }
  Small small(std::size_t i, int r, std::uint64_t seed) const {
    const std::uint64_t bits = mix(seed + i * 64 + static_cast<unsigned>(r));
    // In pairs the values are often equal, with indices in either order.
    const int second = members_.second == DType::none ? 0 : static_cast<int>(bits >> 8 & 7) - 3;
    return {static_cast<int>(bits % 3) + 1, second};
  }
  void put_small(unsigned char* at, Small number) const {
    put(members_.first, number.a, at);
    if (members_.second != DType::none) put(members_.second, number.b, at + members_.place);
  }
  void put_integer(unsigned char* at, std::uint64_t bits) const {
    WideUnsigned value = static_cast<WideUnsigned>(mix(bits)) << 64 | bits;
    if (truth_) {
      const int truths[] = {0, 1, signed_ ? 2 : 0, signed_ ? -1 : 1};
      value = static_cast<WideUnsigned>(static_cast<WideSigned>(truths[bits % 4]));
    }
    std::memcpy(at, &value, members_.extent);
  }
  void fold_integer(unsigned char* at, std::size_t i, int first, int last, std::uint64_t seed,
                    MPI_Op op) const {
    unsigned char next[sizeof(WideUnsigned)];
    put_integer(at, mix(seed + i * 64 + static_cast<unsigned>(first)));
    for (int r = first + 1; r <= last; ++r) {
      put_integer(next, mix(seed + i * 64 + static_cast<unsigned>(r)));
      fold_integers(op, signed_, members_.extent, 1, at, next);
    }
  }

  DType dtype_;
  Members members_;
  bool truth_, integer_, complex_, signed_;
};

}  // namespace test
