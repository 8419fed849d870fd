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

#include "numbers.h"
#include "predefined.h"
#include "testing/element.h"

namespace test {

// The elements of one type: each rank's input, and the expected result.
class Elements {
 public:
  Elements(const Predefined& p, DType dtype) : dtype_(dtype), truth_(p.allowed == kLogical) {}

  // Writes elements `first` to `first + n` of the fold of the givers' inputs. Bytes that hold no
  // data are left as they are.
  void fold(unsigned char* at, std::size_t first, std::size_t n, Givers givers, std::uint64_t seed,
            Op op) const {
    sumac::oracle::with_element(dtype_, [&]<class T>(T) {
      const auto apply = [&](T a, T b) { return sumac::oracle::Element<T>::apply(op, a, b); };
      for (std::size_t i = first; i < first + n; ++i, at += sizeof(T)) {
        const auto input = [&](int giver) { return element<T>(i, giver, seed); };
        sumac::oracle::put(folded<T>(givers, input, apply), at);
      }
    });
  }

  bool has_padding() const {
    return dtype_ == DType::c_long_double || dtype_ == DType::long_double ||
           dtype_ == DType::long_double_i32;
  }
  // Compares all bytes of an element, gaps between members included, but not the padding inside a
  // long double.
  bool equal(const unsigned char* a, const unsigned char* b) const {
    for (std::size_t i = 0; i < sumac::size_of(dtype_); ++i) {
      if (a[i] != b[i] && !is_padding(i)) return false;
    }
    return true;
  }

 private:
  bool is_padding(std::size_t place) const {
    const bool in_one = dtype_ == DType::c_long_double || place < sizeof(long double);
    return has_padding() && in_one && place % sizeof(long double) >= sumac::kLongDoubleBytes;
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

inline Numbers numbers_of(const Predefined& p, const PredefinedOp& op, DType dtype) {
  const Elements elements(p, dtype);
  Numbers n{std::string(p.name) + " " + op.name, p.type, op.handle, sumac::size_of(dtype), nullptr};
  n.fold = [elements, op](unsigned char* at, std::size_t first, std::size_t count, Givers givers,
                          std::uint64_t seed) {
    elements.fold(at, first, count, givers, seed, op.op);
  };
  n.has_gaps = elements.has_padding() || sumac::info_of(dtype).kind == sumac::ElementKind::pair;
  if (elements.has_padding()) {
    n.stands_for = [elements](const unsigned char* got, const unsigned char* right) {
      return elements.equal(got, right);
    };
  }
  return n;
}

// Whoever moves elements may move the gaps in them.
inline Numbers without_gaps(Numbers n, DType dtype) {
  if (!n.has_gaps) return n;
  n.stands_for = [dtype](const unsigned char* got, const unsigned char* right) {
    return sumac::oracle::count_differing(dtype, got, right, 1) == 0;
  };
  return n;
}

}  // namespace test
