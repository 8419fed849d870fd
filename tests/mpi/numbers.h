// SPDX-License-Identifier: BSD-3-Clause
// What the elements of a call are: their type, an operation on them, and the input of every rank,
// from which each rank can compute the result.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <span>
#include <string>

#include "data.h"

namespace test {

using Givers = std::span<const int>;

struct Numbers {
  std::string name;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Op op = MPI_OP_NULL;
  std::size_t size = 1;  // bytes from one element to the next
  // Writes the elements `first` to `first + n` of the fold of the givers' inputs, as folded() does.
  // Bytes that hold no data stay as they are.
  std::function<void(unsigned char* at, std::size_t first, std::size_t n, Givers givers,
                     std::uint64_t seed)>
      fold;
  bool has_gaps = false;  // between or inside elements
  // Says whether a result may stand for the right one although its bytes differ.
  std::function<bool(const unsigned char* got, const unsigned char* right)> stands_for = nullptr;
  std::size_t before = 0, behind = 0;  // bytes by which elements exceed `size` on either side
};

// Returns the fold of the givers' inputs, `input(giver)`. One group folds up to 16 ranks one after
// another, and more in runs of 8, whose results are then folded; with SUMAC_REPRODUCIBLE any number
// of ranks is folded one after another.
template <class T, class Input, class Apply>
T folded(Givers givers, Input input, Apply apply) {
  static const bool by_rank = std::getenv("SUMAC_REPRODUCIBLE");
  const std::size_t all = givers.size(), run = all > 16 && !by_rank ? 8 : all;
  T result{};
  for (std::size_t first = 0; first < all; first += run) {
    T part = input(givers[first]);
    const Givers others = givers.subspan(first, std::min(run, all - first)).subspan(1);
    for (const int giver : others) part = apply(part, T(input(giver)));
    result = first == 0 ? part : apply(result, part);
  }
  return result;
}

// Elements of type T: `make(giver, i, seed)` is an input, `apply(left, right)` the operation.
// `size` is larger than T for elements with a gap behind each.
template <class T, class Make, class Apply>
Numbers numbers(const std::string& name, MPI_Datatype type, MPI_Op op, Make make, Apply apply,
                std::size_t size = sizeof(T)) {
  const auto fold = [=](unsigned char* at, std::size_t first, std::size_t n, Givers givers,
                        std::uint64_t seed) {
    for (std::size_t i = first; i < first + n; ++i, at += size) {
      const T all = folded<T>(
          givers, [&](int giver) { return make(giver, i, seed); }, apply);
      std::memcpy(at, &all, sizeof all);
    }
  };
  return {name, type, op, size, fold, size != sizeof(T)};
}

// Numbers of all magnitudes, so that floating-point sums depend on the order of additions.
template <class T, class Apply>
Numbers any_numbers(const std::string& name, MPI_Datatype type, MPI_Op op, Apply apply) {
  return numbers<T>(name, type, op, value<T>, apply);
}

// Has sums of floating-point numbers count as right where they differ by no more than rounding.
template <class T>
Numbers roughly(Numbers n, T slack) {
  n.stands_for = [slack](const unsigned char* got, const unsigned char* right) {
    T a, b;
    std::memcpy(&a, got, sizeof a);
    std::memcpy(&b, right, sizeof b);
    return std::abs(a - b) <= slack;
  };
  return n;
}

// Small whole numbers, whose results are the same in every order.
template <class T>
void add_whole(std::vector<Numbers>& all, const std::string& name, MPI_Datatype type) {
  const auto any = [](int giver, std::size_t i, std::uint64_t seed) {
    return mix(seed + i * 0x9e3779b97f4a7c15ull + static_cast<unsigned>(giver) * 77u);
  };
  constexpr int kMost = sizeof(T) == 1 ? 50 : sizeof(T) == 2 ? 500 : 100000;
  const auto make = [=](int giver, std::size_t i, std::uint64_t seed) {
    return static_cast<T>(static_cast<int>(any(giver, i, seed) % (2 * kMost + 1)) - kMost);
  };
  const auto factor = [=](int giver, std::size_t i, std::uint64_t seed) {
    return static_cast<T>(1 + any(giver, i, seed) % 2);
  };
  all.push_back(numbers<T>(name + " max", type, MPI_MAX, make, Max()));
  all.push_back(numbers<T>(name + " min", type, MPI_MIN, make, Min()));
  if (sizeof(T) == 1) return;  // too small for sums
  all.push_back(numbers<T>(name + " sum", type, MPI_SUM, make, Sum()));
  all.push_back(numbers<T>(name + " product", type, MPI_PROD, factor,
                           [](T a, T b) { return static_cast<T>(a * b); }));
}

inline const std::vector<Numbers>& whole_kinds() {
  static const std::vector<Numbers> all = [] {
    std::vector<Numbers> made;
    add_whole<int>(made, "int", MPI_INT);
    add_whole<double>(made, "double", MPI_DOUBLE);
    add_whole<float>(made, "float", MPI_FLOAT);
    add_whole<std::int64_t>(made, "int64", MPI_INT64_T);
    add_whole<short>(made, "short", MPI_SHORT);
    add_whole<signed char>(made, "int8", MPI_SIGNED_CHAR);
    return made;
  }();
  return all;
}

// Sums of ints.
inline const Numbers& ints() {
  static const Numbers made = whole_kinds()[2];
  return made;
}

inline const Numbers& doubles() {
  static const Numbers made = whole_kinds()[6];
  return made;
}

inline const Numbers& bytes() {
  static const Numbers made = any_numbers<unsigned char>("byte", MPI_BYTE, MPI_BXOR, Bxor());
  return made;
}

}  // namespace test
