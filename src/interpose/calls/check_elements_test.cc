// SPDX-License-Identifier: BSD-3-Clause
// The tests check that two orders of folding the same inputs are never different, and that a wrong
// element always is.
#include "interpose/calls/check_elements.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "kernels/elements.h"
#include "kernels/reduce.h"

namespace sumac {
namespace {

constexpr std::size_t kCount = 64;

template <class T>
T number(double value) {
  if constexpr (is_half<T>) {
    return plain::demote(static_cast<float>(value), T());
  } else {
    return static_cast<T>(value);
  }
}

// With `wild`, there are infinities, NaNs and numbers whose sums and products leave the range.
template <class T>
double draw(std::mt19937_64& random, bool wild) {
  const double usual = std::ldexp(static_cast<double>(random() % 4096) - 2048, -11);
  if (!wild || random() % 4) return usual;
  const double inf = std::numeric_limits<double>::infinity();
  const double specials[] = {inf, -inf, std::nan(""), 6e4, -6e4, 3e38, 1.7e308, 1e-300, 6e-5, 0.0};
  return specials[random() % 10];
}

template <class T>
void fill(T& element, std::mt19937_64& random, bool wild) {
  if constexpr (is_integer<T>) {
    for (auto& byte : reinterpret_cast<unsigned char(&)[sizeof(T)]>(element)) {
      byte = static_cast<unsigned char>(wild ? random() : 0);
    }
    if (!wild) element = static_cast<T>(random() % 5);
  } else {
    element = number<T>(draw<T>(random, wild));
  }
}
template <class T>
void fill(Complex<T>& element, std::mt19937_64& random, bool wild) {
  fill(element.re, random, wild);
  fill(element.im, random, wild);
}
template <class V, class I, std::size_t kAt, std::size_t kBytes>
void fill(Pair<V, I, kAt, kBytes>& element, std::mt19937_64& random, bool wild) {
  const V value =
      number<V>(is_integer<V> ? static_cast<double>(random() % 3) : draw<V>(random, wild));
  const I index = number<I>(static_cast<double>(random() % 7));
  std::memset(element.bytes, static_cast<int>(random() % 256), kBytes);
  std::memcpy(element.bytes, &value, Pair<V, I, kAt, kBytes>::kValueBytes);
  std::memcpy(element.bytes + kAt, &index, sizeof index);
}

// Changes an element visibly, by its first byte of some weight.
template <class T>
void spoil(T& element) {
  if constexpr (is_integer<T>) {
    element = static_cast<T>(element ^ 1);
  } else if constexpr (is_half<T>) {
    element = number<T>(plain::promote(element) * 2 + 40);
  } else {
    element = element * T(2) + T(40);
  }
}
template <class T>
void spoil(Complex<T>& element) {
  spoil(element.im);
}
template <class V, class I, std::size_t kAt, std::size_t kBytes>
void spoil(Pair<V, I, kAt, kBytes>& element) {
  element.bytes[kAt] ^= 0x40;
}

// This has the inputs of some ranks, and two results.
template <class T>
struct Folds {
  Folds(Op op, DType type, int ranks, std::mt19937_64& random, bool wild)
      : by{op, type, !is_exact(op, type), ranks, sizeof(T)} {
    const auto each = static_cast<std::size_t>(weights_of(by));
    std::vector<const void*> forward, backward;
    inputs.resize(static_cast<std::size_t>(ranks));
    weights.resize(kCount * each);
    for (auto& input : inputs) {
      input.resize(kCount);
      for (T& element : input) fill(element, random, wild);
      std::vector<double> own(kCount * each);
      if (each) weigh(by, bytes(input), kCount, own.data());
      for (std::size_t i = 0; i < own.size(); ++i) weights[i] += own[i];
      forward.push_back(input.data());
      backward.insert(backward.begin(), input.data());
    }
    const ReduceFn fold = find_reduce(op, type);
    a.resize(kCount);
    b.resize(kCount);
    fold(a.data(), forward.data(), ranks, kCount);
    fold(b.data(), backward.data(), ranks, kCount);
  }

  static const std::byte* bytes(const std::vector<T>& elements) {
    return reinterpret_cast<const std::byte*>(elements.data());
  }
  Verdict verdict(std::size_t& at) const {
    return compare(by, bytes(a), bytes(b), kCount, weights.data(), at);
  }

  ComparedReduction by;
  std::vector<std::vector<T>> inputs;
  std::vector<double> weights;
  std::vector<T> a, b;
};

template <class T>
void sweep(DType type) {
  std::mt19937_64 random(5);
  for (int o = 0; o < kNumOps; ++o) {
    const auto op = static_cast<Op>(o);
    if (!is_defined(op, type)) continue;
    for (const int ranks : {2, 3, 5, 8}) {
      SCOPED_TRACE(std::string(name_of(op)) + " of " + name_of(type) + ", " +
                   std::to_string(ranks));
      std::size_t at = 0;
      const Folds<T> wild(op, type, ranks, random, true);
      ASSERT_NE(wild.verdict(at), Verdict::different)
          << at << ": " << element_text(type, Folds<T>::bytes(wild.a) + at * sizeof(T), sizeof(T))
          << " and " << element_text(type, Folds<T>::bytes(wild.b) + at * sizeof(T), sizeof(T));
      Folds<T> usual(op, type, ranks, random, false);
      ASSERT_NE(usual.verdict(at), Verdict::different) << at;
      spoil(usual.a[17]);
      ASSERT_NE(usual.verdict(at), Verdict::equal);
      if (op == Op::prod || sizeof(T) < 4) continue;  // many of these leave the range
      ASSERT_EQ(usual.verdict(at), Verdict::different);
      ASSERT_EQ(at, 17u);
    }
  }
}

TEST(CheckElements, OrdersOfFoldingAreNeverDifferentAndMistakesAre) {
#define SUMAC_ELEMENT(type, name, bytes, kind, kernels, mpi, ...) sweep<__VA_ARGS__>(DType::type);
#include "base/types.def"
}

TEST(CheckElements, ProductsHaveARelativeBound) {
  const ComparedReduction by{Op::prod, DType::f64, false, 2, sizeof(double)};
  const double weight = 2;
  const auto verdict = [&](double a, double b) {
    std::size_t at = 0;
    return compare(by, reinterpret_cast<const std::byte*>(&a),
                   reinterpret_cast<const std::byte*>(&b), 1, &weight, at);
  };
  EXPECT_EQ(verdict(3, 3 + 2 * DBL_EPSILON), Verdict::equal);
  EXPECT_EQ(verdict(3, 3 + 6 * DBL_EPSILON), Verdict::different);
}

TEST(CheckElements, HashesDoNotDependOnPiecesNorOnGaps) {
  std::vector<std::byte> bytes(1000);
  std::mt19937 random(1);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  BitsHash whole;
  whole.add(bytes.data(), bytes.size());
  for (const std::size_t piece : {1u, 3u, 8u, 12u, 500u}) {
    BitsHash cut;
    for (std::size_t i = 0; i < bytes.size(); i += piece) {
      cut.add(bytes.data() + i, std::min(piece, bytes.size() - i));
    }
    EXPECT_EQ(cut.value(), whole.value()) << piece;
  }
  bytes[999] ^= std::byte{1};
  BitsHash other;
  other.add(bytes.data(), bytes.size());
  EXPECT_NE(other.value(), whole.value());
  PairOf<double, std::int32_t> a, b;
  std::memset(&a, 1, sizeof a);
  std::memset(&b, 2, sizeof b);
  b.take(a);
  BitsHash first, second;
  first.add_elements(DType::f64_i32, reinterpret_cast<std::byte*>(&a), 1);
  second.add_elements(DType::f64_i32, reinterpret_cast<std::byte*>(&b), 1);
  EXPECT_EQ(first.value(), second.value());
}

}  // namespace
}  // namespace sumac
