// SPDX-License-Identifier: BSD-3-Clause
// Random nested layouts are compared with the places of single bytes. SUMAC_SEED repeats a run.
#include <cstdlib>

#include "kernels/reduce.h"
#include "layout/random_pair_test.h"

namespace sumac {
namespace {

unsigned long first_seed() {
  const char* const given = std::getenv("SUMAC_SEED");
  return given ? std::strtoul(given, nullptr, 10) : 1;
}

void compare_random(std::size_t layouts) {
  for (unsigned long seed = first_seed(); seed < first_seed() + layouts; ++seed) {
    PairRandom random(seed);
    const Pair element = random_pair(random, 4);
    const std::size_t count = up_to(random, 3);
    const std::ptrdiff_t extent = between(random, -2000, 4000);
    // Small layouts are split at every point.
    const std::size_t most = seed % 8 == 0 ? kMostPairBytes : 12;
    ASSERT_NO_FATAL_FAILURE(compare(element, count, extent, most)) << "SUMAC_SEED=" << seed;
  }
}

TEST(RandomLayouts, are_as_their_bytes) { compare_random(800); }

TEST(RandomLayouts, are_so_past_the_caches) {
  set_stream_bytes(0);
  compare_random(200);
  set_stream_bytes(SIZE_MAX);
}

}  // namespace
}  // namespace sumac
