// SPDX-License-Identifier: BSD-3-Clause
// This computes the result that a reduction must have, for every element type. It is written from
// the contract in kernels/reduce.h, element by element, without any code of the kernels. There are
// also elements to try.
#pragma once

#include "kernels/elements.h"
#include "testing/numbers.h"

namespace sumac::oracle {

// Returns a bit for each of `size` bytes.
constexpr std::uint32_t bytes(std::size_t size) {
  return static_cast<std::uint32_t>((std::uint64_t{1} << size) - 1);
}

// Each kind of element has
//   apply(op, a, b)
//   whole(a, b)           small whole numbers, exact in every type: b is the imaginary part of a
//                         complex number, the index of a pair, and else ignored
//   any(random, special)  `special` asks for the values at which a kernel is likely to be wrong
//   kData                 a bit for each byte of it: set where this is not a gap
template <class T, class = void>
struct Element {
  static constexpr std::uint32_t kData = bytes(sizeof(T));
  static T apply(Op op, T a, T b) { return number(op, a, b); }
  static T whole(std::int64_t a, std::int64_t) { return static_cast<T>(a); }
  static T any(std::mt19937_64& random, bool special) {
    return special ? special_number<T>(random) : any_number<T>(random);
  }
};

template <>
struct Element<Int128> {
  static constexpr std::uint32_t kData = bytes(sizeof(Int128));
  static Int128 whole(std::int64_t a, std::int64_t) { return a; }
  static Int128 apply(Op op, Int128 a, Int128 b) {
    if (op == Op::min) return a < b ? a : b;
    if (op == Op::max) return a > b ? a : b;
    return static_cast<Int128>(
        integer(op, static_cast<Unsigned128>(a), static_cast<Unsigned128>(b)));
  }
  static Int128 any(std::mt19937_64& random, bool special) {
    const auto high = static_cast<Unsigned128>(Element<std::int64_t>::any(random, special));
    return static_cast<Int128>(high << 64 | Element<std::uint64_t>::any(random, special));
  }
};

// 16-bit floats are computed by exact arithmetic: a value is an integral number of quanta.
template <class Half>
struct Format;
template <>
struct Format<Float16> {
  static constexpr int kDigits = 11, kMinExponent = -14, kMaxExponent = 15;
};
template <>
struct Format<BFloat16> {
  static constexpr int kDigits = 8, kMinExponent = -126, kMaxExponent = 127;
};

template <class Half>
struct Element<Half, std::enable_if_t<is_half<Half>>> {
  using F = Format<Half>;
  static constexpr std::uint32_t kData = bytes(sizeof(Half));
  static constexpr int kFraction = F::kDigits - 1;
  static constexpr std::uint16_t kQuiet = 1U << (kFraction - 1);

  static bool is_nan(Half h) { return (h.bits & 0x7FFF) > Half::kInfinity; }
  static double value(Half h) {
    const int magnitude = h.bits & 0x7FFF;
    const int exponent = magnitude >> kFraction;
    const int fraction = magnitude & ((1 << kFraction) - 1);
    double result;
    if (magnitude == Half::kInfinity) {
      result = std::numeric_limits<double>::infinity();
    } else if (exponent == 0) {
      result = std::ldexp(fraction, F::kMinExponent - kFraction);
    } else {
      result = std::ldexp(fraction + (1 << kFraction), F::kMinExponent + exponent - 1 - kFraction);
    }
    return h.bits & 0x8000 ? -result : result;
  }
  // Rounds to nearest, ties to even. x is not a NaN.
  static Half round(double x) {
    const std::uint16_t sign = std::signbit(x) ? 0x8000 : 0;
    const double magnitude = std::fabs(x);
    int exponent = magnitude == 0 ? F::kMinExponent : std::ilogb(magnitude);
    if (exponent < F::kMinExponent) exponent = F::kMinExponent;
    if (exponent > F::kMaxExponent) return {static_cast<std::uint16_t>(sign | Half::kInfinity)};
    const double quanta = std::nearbyint(std::ldexp(magnitude, kFraction - exponent));
    // A carry out of the fraction, if any, goes into the exponent; so does the leading one.
    const int bits = ((exponent - F::kMinExponent) << kFraction) + static_cast<int>(quanta);
    return {static_cast<std::uint16_t>(sign | bits)};
  }

  static Half whole(std::int64_t a, std::int64_t) { return round(static_cast<double>(a)); }
  static Half apply(Op op, Half a, Half b) {
    const bool no_order = is_nan(a) || is_nan(b);
    if (op == Op::min) return !no_order && value(a) < value(b) ? a : b;
    if (op == Op::max) return !no_order && value(a) > value(b) ? a : b;
    if (no_order) return arithmetic_nan(a, b);
    // This is exact for float16. For bfloat16, float itself rounds, which shows for denormals.
    const auto x = static_cast<float>(value(a)), y = static_cast<float>(value(b));
    volatile float result = op == Op::sum ? x + y : x * y;
    if (std::isnan(result)) {
      return {static_cast<std::uint16_t>(std::signbit(result) ? 0x8000 | Half::kInfinity | kQuiet
                                                              : Half::kInfinity | kQuiet)};
    }
    if (std::is_same_v<Half, BFloat16>) return round(static_cast<double>(result));
    return round(op == Op::sum ? value(a) + value(b) : value(a) * value(b));
  }
  static Half any(std::mt19937_64& random, bool special) {
    static constexpr std::uint16_t kInf = Half::kInfinity;
    static constexpr std::uint16_t kSpecials[] = {0,
                                                  0x8000,
                                                  1,
                                                  0x8001,
                                                  kInf,
                                                  0xFFFF,
                                                  0x7FFF,
                                                  kInf + 1,
                                                  kInf + 3,
                                                  0x8000 | (kInf + 1),
                                                  kInf | kQuiet,
                                                  kInf - 1,
                                                  0x8000 | kInf,
                                                  (1 << kFraction) - 1,
                                                  1 << kFraction,
                                                  (1 << kFraction) + 1,
                                                  0xFBFF,
                                                  0xF700};
    if (special) return {kSpecials[random() % (sizeof kSpecials / 2)]};
    if (random() % 2 != 0) return {static_cast<std::uint16_t>(random())};
    return round(static_cast<double>(static_cast<int>(random() % 65) - 32));
  }

 private:
  static Half arithmetic_nan(Half a, Half b) {
#if defined(__aarch64__)
    // The conversion of float16 makes NaNs quiet, that of bfloat16 does not.
    for (const Half h : {a, b}) {
      if (std::is_same_v<Half, Float16>) break;
      if (is_nan(h) && !(h.bits & kQuiet)) return {static_cast<std::uint16_t>(h.bits | kQuiet)};
    }
#endif
    return {static_cast<std::uint16_t>((is_nan(a) ? a.bits : b.bits) | kQuiet)};
  }
};

// This is a long double and its gap, which becomes the right operand's.
struct LongDouble {
  long double value() const {
    long double result;
    std::memcpy(&result, bytes, sizeof result);
    return result;
  }
  LongDouble with(long double value) const {
    LongDouble result = *this;
    std::memcpy(result.bytes, &value, kLongDoubleBytes);
    return result;
  }
  unsigned char bytes[sizeof(long double)];
};

template <>
struct Element<LongDouble> {
  static constexpr std::uint32_t kData = bytes(kLongDoubleBytes);
  static LongDouble whole(std::int64_t a, std::int64_t) {
    return LongDouble().with(static_cast<long double>(a));
  }
  static LongDouble apply(Op op, LongDouble a, LongDouble b) {
    const long double x = a.value(), y = b.value();
    if (op == Op::min) return b.with(x < y ? x : y);
    if (op == Op::max) return b.with(x > y ? x : y);
    volatile long double result = op == Op::sum ? x + y : x * y;
    return b.with(result);
  }
  static LongDouble any(std::mt19937_64& random, bool special) {
    LongDouble result;
    for (unsigned char& byte : result.bytes) byte = static_cast<unsigned char>(random());
    const double value = Element<double>::any(random, special);
    // If a run-time library does the arithmetic, it decides which of two NaNs is kept.
    const bool by_library = LDBL_MANT_DIG > 64;
    return result.with(by_library && std::isnan(value) ? 1 : static_cast<long double>(value) / 3);
  }
};

template <>
struct Element<Float128> {
  static constexpr std::uint32_t kData = bytes(sizeof(Float128));
  static Float128 whole(std::int64_t a, std::int64_t) { return static_cast<Float128>(a); }
  static Float128 apply(Op op, Float128 a, Float128 b) {
    if (op == Op::min) return a < b ? a : b;
    if (op == Op::max) return a > b ? a : b;
    return op == Op::sum ? a + b : a * b;
  }
  static Float128 any(std::mt19937_64& random, bool /*special*/) {
    // The value is never a NaN, since the run-time library decides which of two is kept.
    return static_cast<Float128>(static_cast<std::int64_t>(random())) / 3;
  }
};

template <class Float>
struct Element<Complex<Float>> {
  using Part = Element<Float>;
  static constexpr std::uint32_t kData = Part::kData | Part::kData << sizeof(Float);
  static Complex<Float> whole(std::int64_t a, std::int64_t b) {
    return {Part::whole(a, 0), Part::whole(b, 0)};
  }
  static Complex<Float> apply(Op op, Complex<Float> a, Complex<Float> b) {
    if (op == Op::sum) return {Part::apply(op, a.re, b.re), Part::apply(op, a.im, b.im)};
    const auto times = [](Float x, Float y) { return Part::apply(Op::prod, x, y); };
    const auto plus = [](Float x, Float y) { return Part::apply(Op::sum, x, y); };
    const Float re = plus(times(a.re, b.re), minus(times(a.im, b.im)));
    const Float im = plus(times(a.im, b.re), times(a.re, b.im));
    if constexpr (std::is_same_v<Float, LongDouble>) {
      return {b.re.with(re.value()), b.im.with(im.value())};
    } else {
      return {re, im};
    }
  }
  static Complex<Float> any(std::mt19937_64& random, bool special) {
    if constexpr (std::is_same_v<Float, LongDouble>) {
      // The value is never a NaN, since its sign depends on the compiler, which turns x + -y into x
      // - y.
      const auto part = [&] {
        return Part::any(random, special).with(static_cast<long double>(random() % 99) / 7 - 7);
      };
      const Float re = part();
      return {re, part()};
    } else {
      const Float re = Part::any(random, special);
      return {re, Part::any(random, special && random() % 2 != 0)};
    }
  }

 private:
  static Float minus(Float x) {
    if constexpr (std::is_same_v<Float, LongDouble>) {
      return x.with(-x.value());
    } else {
      return -x;
    }
  }
};

template <class Value, class Index, std::size_t kIndexAt, std::size_t kBytes>
struct Element<Pair<Value, Index, kIndexAt, kBytes>> {
  using P = Pair<Value, Index, kIndexAt, kBytes>;
  static constexpr std::uint32_t kData = bytes(P::kValueBytes) | bytes(sizeof(Index)) << kIndexAt;
  static P whole(std::int64_t a, std::int64_t b) {
    return made(P(), static_cast<Value>(a), static_cast<Index>(b));
  }
  static P apply(Op op, P a, P b) {
    const Value x = a.value(), y = b.value();
    const bool better = op == Op::minloc ? x < y : x > y;
    if (!better && !(x == y && a.index() < b.index())) return b;
    std::memcpy(b.bytes, a.bytes, P::kValueBytes);
    std::memcpy(b.bytes + kIndexAt, a.bytes + kIndexAt, sizeof(Index));
    return b;
  }
  static P any(std::mt19937_64& random, bool special) {
    P result;
    for (unsigned char& byte : result.bytes) byte = static_cast<unsigned char>(random());
    Value value;
    if constexpr (std::is_same_v<Value, long double>) {
      value = static_cast<long double>(Element<double>::any(random, special));
    } else {
      value = Element<Value>::any(random, special);
    }
    // There are few values and indices, so that ties are many.
    const Index index =
        random() % 4 == 0 ? Element<Index>::any(random, special) : static_cast<Index>(random() % 3);
    return made(result, value, index);
  }

 private:
  static P made(P result, Value value, Index index) {
    std::memcpy(result.bytes, &value, P::kValueBytes);
    std::memcpy(result.bytes + kIndexAt, &index, sizeof(Index));
    return result;
  }
};

// Returns the strict left fold of the first num_srcs sources.
template <class T>
std::vector<T> reduce(Op op, const std::vector<std::vector<T>>& srcs, int num_srcs) {
  std::vector<T> result = srcs[0];
  for (int k = 1; k < num_srcs; ++k) {
    for (std::size_t i = 0; i < result.size(); ++i) {
      result[i] = Element<T>::apply(op, result[i], srcs[k][i]);
    }
  }
  return result;
}

// Returns the elements of source k. A third of them are special values in all sources.
template <class T>
std::vector<T> source(int k, std::size_t count) {
  std::mt19937_64 random(1000 + k);
  std::vector<T> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = Element<T>::any(random, i % 3 == 0);
  return values;
}

// Calls visit(T()) with the element that stands for a type.
template <class Visit>
auto with_element(DType type, Visit visit) {
  switch (type) {
#define SUMAC_ELEMENT(dtype, name, bytes, kind, kernels, mpi, ...) \
  case DType::dtype:                                               \
    return visit(__VA_ARGS__());
#include "base/types.def"
    case DType::none:  // never passed
      break;
  }
  return visit(std::int8_t());
}

// Returns a bit for each byte of an element: set if this is not a gap.
inline std::uint32_t data_bytes(DType type) {
  return with_element(type, []<class T>(T) { return Element<T>::kData; });
}

// Writes the element's data, not its gaps.
template <class T>
void put(const T& element, void* at) {
  if (Element<T>::kData == bytes(sizeof(T))) {
    std::memcpy(at, &element, sizeof(T));
    return;
  }
  const auto* from = reinterpret_cast<const unsigned char*>(&element);
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    if (Element<T>::kData >> i & 1) static_cast<unsigned char*>(at)[i] = from[i];
  }
}

// Returns the number of elements whose data differ in any bit.
inline std::size_t count_differing(DType type, const void* a, const void* b, std::size_t count) {
  const std::size_t size = size_of(type);
  const std::uint32_t data = data_bytes(type);
  if (count == 0) return 0;  // a and b may be null
  if (data == bytes(size) && std::memcmp(a, b, count * size) == 0) return 0;
  const auto *x = static_cast<const unsigned char*>(a), *y = static_cast<const unsigned char*>(b);
  std::size_t differing = 0;
  for (std::size_t i = 0; i < count; ++i, x += size, y += size) {
    bool same = true;
    for (std::size_t at = 0; at < size; ++at) same &= x[at] == y[at] || !(data >> at & 1);
    differing += !same;
  }
  return differing;
}

}  // namespace sumac::oracle
