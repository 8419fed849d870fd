// SPDX-License-Identifier: BSD-3-Clause
// Known data for the calls of a replay.
#pragma once

#include "types.h"

namespace sumac::replay {

// Elements of one type that a rank gives to one call.
struct Element {
  const Type* type;
  Op op;  // none: data that are moved, or bytes for what stands for a function of the program's
  int ranks, rank;
  unsigned call;  // other data in each

  // All reductions of these data are exact, in whatever order.
  void fill(std::byte* address, std::int64_t count) const;
};

// A hash of the data of these elements, and of what `hash` is one of.
std::uint64_t hash_of(const std::byte* address, std::int64_t count, const Type& type,
                      std::uint64_t hash);

}  // namespace sumac::replay
