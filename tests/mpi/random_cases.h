// SPDX-License-Identifier: BSD-3-Clause
// Random cases, which all ranks draw alike.
#pragma once

#include <array>

#include "cases.h"

namespace test {

// A message size, in bytes: mostly small, often near a size where the algorithm changes, at most
// about 300 KiB.
inline std::size_t random_bytes(Random& random) {
  constexpr std::array<std::size_t, 8> kThresholds{0, 8, 56, 64, 2048, 4096, 32768, 65536};
  const std::uint64_t way = random.below(16);
  if (way == 0) return random.below(300 << 10);
  if (way < 3) return random.below(20000);
  if (way < 7) return kThresholds[random.below(8)] + random.below(33);
  return random.below(400);
}

// One of the collectives that every MPI has in every form. A broadcast may be of a derived type,
// blocks of 3 elements with gaps of 2, which is freed before the call has ended.
inline Case random_case(Random& random, Form form, int size) {
  Case c{.form = form, .seed = random.next()};
  const auto kind = random.below(10);
  c.what = kind < 4   ? What::allreduce
           : kind < 6 ? What::reduce
           : kind < 9 ? What::bcast
                      : What::barrier;
  c.numbers = &whole_kinds()[random.below(whole_kinds().size())];
  std::size_t count = random_bytes(random) / c.numbers->size;
  c.root = static_cast<int>(random.below(static_cast<std::uint64_t>(size)));
  c.in_place = random.below(3) == 0;
  c.large = random.below(6) == 0 && c.what != What::barrier;
  c.misaligned[0] = c.seed >> 8 & 31;
  c.misaligned[1] = c.seed & 63;
  if (c.what == What::bcast && random.below(3) == 0 && count >= 3) {
    count -= count % 3;
    const bool one = random.below(2) == 0;
    c.gets = {blocks("blocks of ", *c.numbers, one ? static_cast<int>(count / 3) : 1, 3, 5)};
    c.frees_types = form != Form::persistent;
  }
  // Debian's MPICH crashes in its own in-place MPI_Reduce when the root is not 0.
  if (form == Form::blocking && c.what == What::reduce && c.root > 0) c.in_place = false;
  c.counts = {count};
  return c;
}

}  // namespace test
