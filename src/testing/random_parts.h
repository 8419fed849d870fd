// SPDX-License-Identifier: BSD-3-Clause
// Each rank has a part of these vectors, of equal size or not.
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <random>
#include <vector>

#include "algorithms/chunks.h"

namespace sumac::testing {

// Returns the bytes of each rank's part of `count` elements: as even as possible, of any size, or
// all with one rank.
inline std::vector<std::size_t> part_sizes(std::size_t count, std::size_t element, int ranks,
                                           std::mt19937& random) {
  const auto p = static_cast<std::size_t>(ranks);
  std::vector<std::size_t> sizes(p);
  const unsigned how = random() % 4;
  if (how == 0) {
    sizes[random() % p] = count;
  } else if (how == 1) {
    for (std::size_t i = 0; i < p; ++i) sizes[i] = count / p + (i < count % p);
  } else {
    std::vector<std::size_t> cuts{0, count};
    for (std::size_t i = 1; i < p; ++i) cuts.push_back(random() % (count + 1));
    std::sort(cuts.begin(), cuts.end());
    for (std::size_t i = 0; i < p; ++i) sizes[i] = cuts[i + 1] - cuts[i];
  }
  for (std::size_t& size : sizes) size *= element;
  return sizes;
}

// Lays the parts out one behind the other, in the order of ranks or, now and then, in any order.
inline std::vector<Part> laid_out(const std::vector<std::size_t>& sizes, bool in_any_order,
                                  std::mt19937& random) {
  std::vector<Part> parts(sizes.size());
  std::vector<std::size_t> order(sizes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (in_any_order && random() % 3 == 0) std::shuffle(order.begin(), order.end(), random);
  std::size_t offset = 0;
  for (const std::size_t rank : order) {
    parts[rank] = {offset, sizes[rank]};
    offset += sizes[rank];
  }
  return parts;
}

}  // namespace sumac::testing
