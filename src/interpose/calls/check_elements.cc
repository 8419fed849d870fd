// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/calls/check_elements.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <limits>
#include <type_traits>

#include "base/c_locale.h"
#include "kernels/elements.h"

namespace sumac {
namespace {

// All floating-point elements are compared in this format.
using Wide = Float128;

// This says what a floating-point format can do. `unit` is the relative error of one rounding, and
// `largest` is the exponent of its largest number.
struct FloatFormat {
  Wide unit;
  int largest;
  double slack;  // absolute error of results that a processor may flush to zero
};

template <class T>
constexpr FloatFormat format_of() {
  if constexpr (std::is_same_v<T, Float16>) return {Wide(1) / (1 << 11), 15, 0};
  if constexpr (std::is_same_v<T, BFloat16>) return {Wide(1) / (1 << 8), 127, FLT_MIN};
  if constexpr (std::is_same_v<T, float>) return {Wide(FLT_EPSILON) / 2, 127, FLT_MIN};
  if constexpr (std::is_same_v<T, double>) return {Wide(DBL_EPSILON) / 2, 1023, DBL_MIN};
  if constexpr (std::is_same_v<T, LongDouble>) return {Wide(LDBL_EPSILON) / 2, LDBL_MAX_EXP - 1, 0};
  // This is float128, if it is a type of its own: it has 113 bits.
  Wide unit = 1;
  for (int i = 0; i < 113; ++i) unit /= 2;
  return {unit, 16383, 0};
}

template <class T>
Wide wide(T value) {
  if constexpr (is_half<T>) {
    return plain::promote(value);
  } else {
    return value;
  }
}

Wide absolute(Wide value) { return value < 0 ? -value : value; }
bool is_nan(Wide value) { return value != value; }
bool is_infinite(Wide value) { return !is_nan(value) && is_nan(value - value); }

// Returns log2 of a magnitude, as far as it says whether a product leaves the range; 0 for 0.
double log_of(Wide magnitude) {
  if (is_nan(magnitude)) return std::numeric_limits<double>::quiet_NaN();
  if (is_infinite(magnitude)) return std::numeric_limits<double>::infinity();
  if (magnitude == 0) return 0;
  double scale = 0;
  for (; magnitude < Wide(1e-300); scale -= 512) magnitude *= Wide(0x1p512);
  for (; magnitude > Wide(1e300); scale += 512) magnitude /= Wide(0x1p512);
  return std::fabs(scale + std::log2(static_cast<double>(magnitude)));
}

bool rounds(Op op) { return op == Op::sum || op == Op::prod; }

// A product may leave the range in some order of multiplication, or lose bits near its lower end.
// Otherwise the bound is relative; for complex products it is relative to the modulus.
bool may_leave_range(const FloatFormat& format, Op op, double weight) {
  if (op == Op::prod) return !(weight < format.largest - 2);
  // The largest sum may reach half the range. Sums of more than a double holds are not followed.
  return !(weight < std::ldexp(1.0, std::min(format.largest, 1023) - 1));
}

Wide bound_of(const FloatFormat& format, Op op, int ranks, Wide scale) {
  constexpr Wide kSafety = 1.1;
  const Wide roundings = 2 * (ranks - 1);
  return kSafety * roundings * format.unit * scale + roundings * (op == Op::sum ? format.slack : 0);
}

Verdict compare_floats(const FloatFormat& format, Op op, int ranks, Wide own, Wide other,
                       Wide scale, double weight) {
  if (own == other || (is_nan(own) && is_nan(other))) return Verdict::equal;
  // A NaN is among the inputs: sums and products are NaNs, but nothing is said of the least and the
  // greatest.
  if (std::isnan(weight)) return rounds(op) ? Verdict::different : Verdict::undecided;
  if (!rounds(op)) return Verdict::different;
  if (may_leave_range(format, op, weight)) return Verdict::undecided;
  return absolute(own - other) <= bound_of(format, op, ranks, scale) ? Verdict::equal
                                                                     : Verdict::different;
}

template <class T>
T at(const std::byte* elements) {
  T value;
  std::memcpy(&value, elements, sizeof value);
  return value;
}

template <class T>
void print_number(T value, std::string& text) {
  char digits[64];
  if constexpr (is_integer<T>) {
    const bool is_signed = static_cast<T>(-1) < 0;  // an int128 prints its lower half
    std::snprintf(digits, sizeof digits, is_signed ? "%lld" : "%llu",
                  static_cast<long long>(value));
  } else {
    const InCLocale in_c_locale;
    std::snprintf(digits, sizeof digits, "%.17Lg", static_cast<long double>(wide(value)));
  }
  text += digits;
}

template <class T>
void print_two(T first, auto second, std::string& text) {
  text += '(';
  print_number(first, text);
  text += ", ";
  print_number(second, text);
  text += ')';
}

// A value is made up of so many bytes.
template <class T>
constexpr std::size_t kValueBytes = std::is_same_v<T, long double> ? kLongDoubleBytes : sizeof(T);

template <class T>
double magnitude_of(const std::byte* input) {
  return std::fabs(static_cast<double>(wide(at<T>(input))));
}

// This compares elements of one type.
template <class T>
struct ComparedElement {  // integers
  static void print(const std::byte* element, std::string& text) {
    print_number(at<T>(element), text);
  }
  static void hash(const std::byte* element, BitsHash& hash) { hash.add(element, sizeof(T)); }
  static Wide bound(const ComparedReduction&, const std::byte*, const double*) { return -1; }
  static bool needs_weight(const ComparedReduction& by) {
    if (rounds(by.op)) return sizeof(T) <= 2;
    return (by.op == Op::min || by.op == Op::max) && by.sign_in_doubt;
  }
  static int weights(const ComparedReduction& by) { return needs_weight(by) ? 1 : 0; }
  static void weigh(Op op, const std::byte* input, double* weight) {
    const auto value = at<T>(input);
    const auto magnitude = std::fabs(static_cast<double>(value));
    const double half = std::ldexp(1.0, 8 * sizeof(T) - 1);
    *weight = op == Op::sum    ? magnitude
              : op == Op::prod ? log_of(magnitude)
                               : (value < 0 || magnitude >= half ? 1 : 0);
  }
  // Beyond the type's range some MPIs saturate, or take unsigned integers for signed ones.
  static Verdict compare(const ComparedReduction& by, const std::byte* own, const std::byte* other,
                         const double* weight) {
    if (std::memcmp(own, other, sizeof(T)) == 0) return Verdict::equal;
    if (!needs_weight(by)) return Verdict::different;
    const int bits = 8 * static_cast<int>(sizeof(T)) - (static_cast<T>(-1) < 0);
    const bool beyond = by.op == Op::sum    ? *weight >= std::ldexp(1.0, bits)
                        : by.op == Op::prod ? *weight >= bits
                                            : *weight > 0;
    return beyond ? Verdict::undecided : Verdict::different;
  }
};

template <class T>
struct Floating {
  static void print(const std::byte* element, std::string& text) {
    print_number(at<T>(element), text);
  }
  static void hash(const std::byte* element, BitsHash& hash) { hash.add(element, kValueBytes<T>); }
  static int weights(const ComparedReduction&) { return 1; }
  static void weigh(Op op, const std::byte* input, double* weight) {
    *weight = op == Op::prod ? log_of(absolute(wide(at<T>(input)))) : magnitude_of<T>(input);
  }
  static Wide bound(const ComparedReduction& by, const std::byte* other, const double* weight) {
    const Wide scale = by.op == Op::prod ? absolute(wide(at<T>(other))) : Wide(*weight);
    return bound_of(format_of<T>(), by.op, by.ranks, scale);
  }
  static Verdict compare(const ComparedReduction& by, const std::byte* own, const std::byte* other,
                         const double* weight) {
    const Wide b = wide(at<T>(other));
    const Wide scale = by.op == Op::prod ? absolute(b) : Wide(*weight);
    return compare_floats(format_of<T>(), by.op, by.ranks, wide(at<T>(own)), b, scale, *weight);
  }
};
template <>
struct ComparedElement<Float16> : Floating<Float16> {};
template <>
struct ComparedElement<BFloat16> : Floating<BFloat16> {};
template <>
struct ComparedElement<float> : Floating<float> {};
template <>
struct ComparedElement<double> : Floating<double> {};
template <>
struct ComparedElement<long double> : Floating<long double> {};
#if defined(__x86_64__)
template <>
struct ComparedElement<Float128> : Floating<Float128> {};
#endif

template <class T>
struct ComparedElement<Complex<T>> {
  static void print(const std::byte* element, std::string& text) {
    print_two(at<T>(element), at<T>(element + sizeof(T)), text);
  }
  static void hash(const std::byte* element, BitsHash& hash) {
    hash.add(element, kValueBytes<T>);
    hash.add(element + sizeof(T), kValueBytes<T>);
  }
  static Wide modulus(const std::byte* element) {
    return absolute(wide(at<T>(element))) + absolute(wide(at<T>(element + sizeof(T))));
  }
  // Returns the bound for the real part. A complex product rounds to less than 2.3 units of its
  // modulus.
  static Wide bound(const ComparedReduction& by, const std::byte* other, const double* weight) {
    const Wide scale = by.op == Op::prod ? Wide(2.3) * modulus(other) : Wide(*weight);
    return bound_of(format_of<T>(), by.op, by.ranks, scale);
  }
  static int weights(const ComparedReduction& by) { return by.op == Op::sum ? 2 : 1; }
  static void weigh(Op op, const std::byte* input, double* weight) {
    if (op == Op::sum) {
      weight[0] = magnitude_of<T>(input);
      weight[1] = magnitude_of<T>(input + sizeof(T));
    } else {
      *weight = log_of(modulus(input)) + 1;  // the modulus here is less than twice the true one
    }
  }
  static Verdict compare(const ComparedReduction& by, const std::byte* own, const std::byte* other,
                         const double* weight) {
    const auto a = at<Complex<T>>(own), b = at<Complex<T>>(other);
    const bool sums = by.op == Op::sum;
    const Wide of_product = Wide(2.3) * modulus(other);
    const FloatFormat format = format_of<T>();
    const auto part = [&](T x, T y, double w) {
      const Wide scale = sums ? Wide(w) : of_product;
      return compare_floats(format, by.op, by.ranks, wide(x), wide(y), scale, w);
    };
    const Verdict re = part(a.re, b.re, weight[0]), im = part(a.im, b.im, weight[sums ? 1 : 0]);
    return re > im ? re : im;
  }
};

// The first of equal values may have either sign of zero; nothing is said of NaNs.
template <class V, class I, std::size_t kAt, std::size_t kBytes>
struct ComparedElement<Pair<V, I, kAt, kBytes>> {
  using P = Pair<V, I, kAt, kBytes>;
  static void print(const std::byte* element, std::string& text) {
    print_two(at<P>(element).value(), at<P>(element).index(), text);
  }
  static void hash(const std::byte* element, BitsHash& hash) {
    hash.add(element, P::kValueBytes);
    hash.add(element + kAt, sizeof(I));
  }
  static Wide bound(const ComparedReduction&, const std::byte*, const double*) { return -1; }
  static int weights(const ComparedReduction&) { return is_integer<V> ? 0 : 1; }
  static void weigh(Op, const std::byte* input, double* weight) {
    if constexpr (!is_integer<V>) *weight = magnitude_of<V>(input);
  }
  static Verdict compare(const ComparedReduction&, const std::byte* own, const std::byte* other,
                         const double* weight) {
    const P a = at<P>(own), b = at<P>(other);
    if (a.value() == b.value() && a.index() == b.index()) return Verdict::equal;
    return !is_integer<V> && std::isnan(*weight) ? Verdict::undecided : Verdict::different;
  }
};

// Calls work(ComparedElement<T>) for the type.
template <class Work>
auto with(DType type, Work work) {
  switch (type) {
#define SUMAC_ELEMENT(type, name, bytes, kind, kernels, mpi, ...) \
  case DType::type:                                               \
    return work(ComparedElement<__VA_ARGS__>());
#include "base/types.def"
    case DType::none:
      break;
  }
  return decltype(work(ComparedElement<char>()))();
}

bool by_bytes(const ComparedReduction& by) { return by.op == Op::none || by.type == DType::none; }

Verdict compare_bytes(const ComparedReduction& by, const std::byte* own, const std::byte* other,
                      std::size_t count, std::size_t& at) {
  for (at = 0; at < count; ++at) {
    const std::size_t offset = at * by.element;
    if (std::memcmp(own + offset, other + offset, by.element) != 0) return Verdict::different;
  }
  return Verdict::equal;
}

}  // namespace

int weights_of(const ComparedReduction& by) {
  if (by_bytes(by)) return 0;
  return with(by.type, [&](auto element) { return element.weights(by); });
}

void weigh(const ComparedReduction& by, const std::byte* input, std::size_t count,
           double* weights) {
  with(by.type, [&](auto element) {
    const auto each = static_cast<std::size_t>(element.weights(by));
    for (std::size_t i = 0; i < count; ++i) {
      element.weigh(by.op, input + i * by.element, weights + i * each);
    }
    return 0;
  });
}

Verdict compare(const ComparedReduction& by, const std::byte* own, const std::byte* other,
                std::size_t count, const double* weights, std::size_t& at) {
  if (count == 0 || std::memcmp(own, other, count * by.element) == 0) return Verdict::equal;
  if (by_bytes(by)) return compare_bytes(by, own, other, count, at);
  return with(by.type, [&](auto element) {
    const auto each = static_cast<std::size_t>(element.weights(by));
    Verdict worst = Verdict::equal;
    for (at = 0; at < count && worst != Verdict::different; ++at) {
      const std::size_t offset = at * by.element;
      const Verdict one = element.compare(by, own + offset, other + offset,
                                          weights ? weights + at * each : nullptr);
      if (one > worst) worst = one;
    }
    --at;
    return worst;
  });
}

std::string bound_text(const ComparedReduction& by, const std::byte* other, const double* weights) {
  if (by_bytes(by) || !rounds(by.op)) return "none: they must be equal";
  return with(by.type, [&](auto element) -> std::string {
    const Wide bound = element.bound(by, other, weights);
    const InCLocale in_c_locale;
    char text[64] = "none: they must be equal";
    if (bound >= 0) std::snprintf(text, sizeof text, "%.3Lg", static_cast<long double>(bound));
    return text;
  });
}

std::string element_text(DType type, const std::byte* element, std::size_t bytes) {
  std::string text;
  if (type != DType::none) {
    with(type, [&](auto each) {
      each.print(element, text);
      return 0;
    });
    return text;
  }
  char digits[4];
  for (std::size_t i = 0; i < bytes && i < 16; ++i) {
    std::snprintf(digits, sizeof digits, "%02x", std::to_integer<unsigned>(element[i]));
    text += digits;
  }
  return "0x" + text + (bytes > 16 ? "..." : "");
}

void BitsHash::add(const std::byte* bytes, std::size_t count) {
  for (std::size_t i = 0; i < count;) {
    if (held_ == 0 && count - i >= sizeof rest_) {
      std::memcpy(&rest_, bytes + i, sizeof rest_);
      i += sizeof rest_;
      held_ = sizeof rest_;
    } else {
      rest_ |= std::to_integer<unsigned long long>(bytes[i++]) << (8 * held_++);
    }
    if (held_ < static_cast<int>(sizeof rest_)) continue;
    hash_ = (hash_ ^ rest_) * 0xff51afd7ed558ccdull;
    hash_ ^= hash_ >> 32;
    rest_ = 0;
    held_ = 0;
  }
}

void BitsHash::add_elements(DType type, const std::byte* elements, std::size_t count) {
  const std::size_t size = size_of(type);
  const bool has_gaps = info_of(type).kind == ElementKind::pair || type == DType::long_double ||
                        type == DType::c_long_double;
  if (!has_gaps) return add(elements, count * size);
  with(type, [&](auto each) {
    for (std::size_t i = 0; i < count; ++i) each.hash(elements + i * size, *this);
    return 0;
  });
}

unsigned long long BitsHash::value() const {
  return (hash_ ^ rest_ ^ static_cast<unsigned long long>(held_)) * 0xc4ceb9fe1a85ec53ull;
}

}  // namespace sumac
