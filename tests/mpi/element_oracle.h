// SPDX-License-Identifier: BSD-3-Clause
// Elements of every predefined type, and the expected result of an operation on them. Integers have
// random bits. All other numbers are small and whole, so every format holds them exactly and every
// order of additions gives the same sum. The MPI's own results are not used: Open MPI 4.1 saturates
// sums of 8 and 16 bits and compares MPI_UNSIGNED_LONG as signed; MPICH 4.0 compares all unsigned C
// types as signed.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "data.h"
#include "predefined.h"
#include "testing/element.h"

namespace test {

// The elements of one type: rank `r`'s input, and the expected result.
class Elements {
 public:
  Elements(const Predefined& p, DType dtype) : dtype_(dtype), truth_(p.allowed == kLogical) {}
  std::size_t extent() const { return sumac::size_of(dtype_); }

  // Writes the input of rank `r`. Bytes that hold no data are left as they are.
  void fill(unsigned char* at, std::size_t count, int r, std::uint64_t seed) const {
    fold(at, count, r, r, seed, {});
  }

  // Writes the fold of the inputs of ranks `first` to `last`, in this order.
  void fold(unsigned char* at, std::size_t count, int first, int last, std::uint64_t seed,
            const PredefinedOp& op) const {
    sumac::oracle::with_element(dtype_, [&]<class T>(T result) {
      for (std::size_t i = 0; i < count; ++i, at += sizeof(T)) {
        result = element<T>(i, first, seed);
        for (int r = first + 1; r <= last; ++r) {
          result = sumac::oracle::Element<T>::apply(op.op, result, element<T>(i, r, seed));
        }
        sumac::oracle::put(result, at);
      }
    });
  }

  // Compares all bytes, gaps between members included, but not the padding inside a long double.
  bool equal(const unsigned char* a, const unsigned char* b, std::size_t count) const {
    if (std::memcmp(a, b, count * extent()) == 0) return true;
    for (std::size_t i = 0; i < count * extent(); ++i) {
      if (a[i] != b[i] && !is_padding(i % extent())) return false;
    }
    return true;
  }

 private:
  bool is_padding(std::size_t place) const {
    const bool has_two = dtype_ == DType::c_long_double;
    const bool has_one = dtype_ == DType::long_double || dtype_ == DType::long_double_i32;
    return (has_two || (has_one && place < sizeof(long double))) &&
           place % sizeof(long double) >= sumac::kLongDoubleBytes;
  }
  template <class T>
  T element(std::size_t i, int r, std::uint64_t seed) const {
    const std::uint64_t bits = mix(seed + i * 64 + static_cast<unsigned>(r));
    if constexpr (sumac::is_integer<T>) {
      if (truth_) {
        constexpr bool kSigned = !std::is_unsigned_v<T>;
        const int truths[] = {0, 1, kSigned ? 2 : 0, kSigned ? -1 : 1};
        return static_cast<T>(truths[bits % 4]);
      }
      return static_cast<T>(static_cast<sumac::Unsigned128>(mix(bits)) << 64 | bits);
    } else {
      // In pairs the values are often equal, with indices in either order.
      return sumac::oracle::Element<T>::whole(static_cast<int>(bits % 3) + 1,
                                              static_cast<int>(bits >> 8 & 7) - 3);
    }
  }

  DType dtype_;
  bool truth_;
};

}  // namespace test
