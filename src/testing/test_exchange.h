// SPDX-License-Identifier: BSD-3-Clause
// Each rank has a part of a vector, of equal size or not; an exchange says what each rank gives
// each other rank in an all-to-all.
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

struct Exchange {
  // gives[i][j] is the block of rank i for rank j in i's input, gets[j][i] the same block in j's
  // output.
  std::vector<std::vector<Part>> gives, gets;
  std::vector<std::vector<Part>> scratch;  // [rank] memory for the algorithm

  Parts sent(int rank, bool lists) const {
    return parts(gives[static_cast<std::size_t>(rank)], lists);
  }
  Parts received(int rank, bool lists) const {
    return parts(gets[static_cast<std::size_t>(rank)], lists);
  }

 private:
  static Parts parts(const std::vector<Part>& blocks, bool lists) {
    std::size_t bytes = 0;
    for (const Part& block : blocks) bytes += block.bytes;
    return {bytes, static_cast<int>(blocks.size()), 1, 0, lists ? blocks.data() : nullptr};
  }
};

// Returns blocks of one size, `bytes` in all for each rank.
inline Exchange equal_exchange(std::size_t bytes, int ranks) {
  std::vector<Part> parts;
  for (int r = 0; r < ranks; ++r) parts.push_back(part_of(bytes, ranks, r, 1));
  const std::vector<std::vector<Part>> all(parts.size(), parts);
  return {all, all, all};
}

// Returns blocks of any sizes, many of them empty; no rank gives or gets more than `count`
// elements.
inline Exchange random_exchange(std::size_t count, std::size_t element, int ranks,
                                std::mt19937& random) {
  const auto p = static_cast<std::size_t>(ranks);
  std::vector<std::vector<std::size_t>> given(p, std::vector<std::size_t>(p)), got = given;
  std::vector<std::size_t> row(p, count), column(p, count);
  const unsigned how = random() % 4;
  for (std::size_t n = 0; n < 3 * p * p; ++n) {
    const std::size_t i = random() % p, j = random() % p;
    const std::size_t most = std::min(row[i], column[j]);
    if (how == 0 && n > p) break;  // there are a few large ones
    const std::size_t some = how == 0 ? most : random() % (most / (how == 1 ? 1 : p) + 1);
    row[i] -= some;
    column[j] -= some;
    given[i][j] += some * element;
    got[j][i] += some * element;
  }
  Exchange exchange;
  for (std::size_t r = 0; r < p; ++r) {
    exchange.gives.push_back(laid_out(given[r], true, random));
    exchange.gets.push_back(laid_out(got[r], true, random));
  }
  exchange.scratch.assign(p, std::vector<Part>(p));
  return exchange;
}

}  // namespace sumac::testing
