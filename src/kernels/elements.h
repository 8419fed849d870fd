// SPDX-License-Identifier: BSD-3-Clause
// The language has no numbers of these types: 16-bit floats, complex numbers, pairs of a value and
// an index, and long double, whose value has fewer bytes than it occupies.
#pragma once

#include <cfloat>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace sumac {

struct Float16 {
  static constexpr std::uint16_t kInfinity = 0x7C00;
  std::uint16_t bits;
};

struct BFloat16 {
  static constexpr std::uint16_t kInfinity = 0x7F80;
  std::uint16_t bits;
};

// A long double's value has this many bytes. In the 80-bit format it has 10 of 16 bytes; the others
// are a gap.
inline constexpr std::size_t kLongDoubleBytes = LDBL_MANT_DIG == 64 ? 10 : sizeof(long double);

template <class Float>
struct Complex {
  Float re;
  Float im;
};

// A pair is laid out as a C struct of a value and an index. Bytes that belong to neither are gaps.
template <class ValueType, class IndexType, std::size_t kIndexAt, std::size_t kBytes>
struct Pair {
  using Value = ValueType;
  using Index = IndexType;
  static constexpr std::size_t kValueBytes =
      std::is_same_v<Value, long double> ? kLongDoubleBytes : sizeof(Value);
  static constexpr bool kHasGaps = kValueBytes + sizeof(Index) < kBytes;

  Value value() const { return at<Value>(0); }
  Index index() const { return at<Index>(kIndexAt); }
  // Takes over value and index. Gaps keep their bytes.
  void take(const Pair& other) {
    __builtin_memcpy(bytes, other.bytes, kValueBytes);
    __builtin_memcpy(bytes + kIndexAt, other.bytes + kIndexAt, sizeof(Index));
  }
  unsigned char bytes[kBytes];

 private:
  template <class T>
  T at(std::size_t offset) const {
    T result;
    __builtin_memcpy(&result, bytes + offset, sizeof(T));
    return result;
  }
};

template <class Value, class Index>
struct Laid {
  struct Struct {
    Value value;
    Index index;
  };
  using Type = Pair<Value, Index, offsetof(Struct, index), sizeof(Struct)>;
};
template <class Value, class Index>
using PairOf = typename Laid<Value, Index>::Type;

using LongDouble = long double;
__extension__ using Int128 = __int128;
__extension__ using Unsigned128 = unsigned __int128;
#if defined(__x86_64__)
__extension__ using Float128 = __float128;
#else
using Float128 = long double;
#endif

template <class Integer>
struct UnsignedOf : std::make_unsigned<Integer> {};
template <>
struct UnsignedOf<Int128> {
  using type = Unsigned128;
};

// This is like the standard's traits, which leave out types that are not standard.
template <class T>
inline constexpr bool is_integer =
    std::is_integral_v<T> || std::is_same_v<T, Int128> || std::is_same_v<T, Unsigned128>;
template <class T>
inline constexpr bool is_half = std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>;

}  // namespace sumac
