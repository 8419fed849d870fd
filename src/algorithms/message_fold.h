// SPDX-License-Identifier: BSD-3-Clause
// The algorithms over messages share these functions. Who talks to whom is in peers.h.
#pragma once

#include <algorithm>
#include <cstddef>

#include "algorithms/functions.h"
#include "algorithms/in_pieces.h"
#include "algorithms/peers.h"

namespace sumac {

// Computes to[i] = (sources[0][i] op sources[1][i]) op ...; `to` may be one of the sources.
inline void fold_all(const ReduceArguments& args, const std::byte* const* sources, int num,
                     std::byte* to, std::size_t count) {
  if (count == 0) return;
  in_pieces(to, count, args.element, [&](std::size_t first, std::size_t n) {
    const void* from[kMaxSources];
    for (int s = 0; s < num; ++s) from[s] = sources[s] + first * args.element;
    args.kernel(to + first * args.element, from, num, n);
  });
}

inline void fold_two(const ReduceArguments& args, const std::byte* first, const std::byte* second,
                     std::byte* to, std::size_t count) {
  const std::byte* const sources[] = {first, second};
  fold_all(args, sources, 2, to, count);
}

// These are the steps before and after those of Doubling: extra ranks send their data to their
// pairs, which fold them after their own into the output. In the end the extra ranks receive the
// result.
Task fold_extras(Strand& strand, MessageGroup& group, const ReduceArguments& args);
Task serve_extras(Strand& strand, MessageGroup& group, const ReduceArguments& args);

}  // namespace sumac
