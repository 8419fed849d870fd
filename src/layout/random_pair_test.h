// SPDX-License-Identifier: BSD-3-Clause
// Random nested layouts are made here, together with the place of each of their packed bytes.
#pragma once

#include <random>
#include <vector>

#include "layout/byte_map_test.h"

namespace sumac {

using PairRandom = std::mt19937_64;
inline constexpr std::size_t kMostPairBytes = 3000;

inline std::ptrdiff_t between(PairRandom& random, std::ptrdiff_t low, std::ptrdiff_t high) {
  return std::uniform_int_distribution<std::ptrdiff_t>(low, high)(random);
}

inline std::size_t up_to(PairRandom& random, std::size_t most) {
  return std::uniform_int_distribution<std::size_t>(0, most)(random);
}

inline Pair random_pair(PairRandom& random, int depth);

inline Pair random_runs(PairRandom& random, int depth) {
  const Pair element = random_pair(random, depth);
  const std::ptrdiff_t extent = between(random, -10, 60);
  const std::size_t runs = up_to(random, depth > 1 ? 5 : 200);
  RunList list(element.layout, extent, runs);
  Pair pair;
  std::ptrdiff_t at = between(random, -50, 50);
  for (std::size_t i = 0; i < runs; ++i) {
    const std::size_t count = up_to(random, 4);
    list.add(at, count);
    append(pair.places, repeated_pair({{}, element.places}, count, extent).places, at);
    at += random() % 3 == 0 ? static_cast<std::ptrdiff_t>(count) * extent
                            : between(random, -100, 400);
  }
  pair.layout = list.finish();
  return pair;
}

inline Pair random_sequence(PairRandom& random, int depth) {
  Pair pair;
  std::vector<DataLayout> parts;
  const bool same = random() % 4 == 0;
  Pair part = random_pair(random, depth);
  const std::size_t items = up_to(random, 5);
  for (std::size_t i = 0; i < items; ++i) {
    const std::ptrdiff_t at =
        same ? 300 * static_cast<std::ptrdiff_t>(i) : between(random, -300, 900);
    parts.push_back(shifted(part.layout, at));
    append(pair.places, part.places, at);
    if (!same) part = random_pair(random, depth - 1);
  }
  pair.layout = joined(parts);
  return pair;
}

inline Pair random_loop(PairRandom& random, int depth) {
  const Pair inner = random_pair(random, depth);
  const auto bytes = static_cast<std::ptrdiff_t>(inner.places.size());
  const std::ptrdiff_t stride = random() % 3 == 0 ? bytes : between(random, -100, 300);
  return repeated_pair(inner, up_to(random, 20), stride);
}

inline Pair random_pair(PairRandom& random, int depth) {
  for (;;) {
    Pair pair;
    const auto kind = depth <= 0 ? 0 : random() % 5;
    if (kind == 0) pair = block_pair(up_to(random, random() % 4 == 0 ? 200 : 24));
    if (kind == 1 || kind == 2) pair = random_loop(random, depth - 1);
    if (kind == 3) pair = random_runs(random, depth - 1);
    if (kind == 4) pair = random_sequence(random, depth - 1);
    if (pair.places.size() <= kMostPairBytes) return pair;
  }
}

}  // namespace sumac
