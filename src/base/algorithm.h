// SPDX-License-Identifier: BSD-3-Clause
// This header turns the rows of algorithms.def into names and properties. Their functions are in
// algorithms/table.h.
#pragma once

#include <array>
#include <cassert>
#include <cstdint>
#include <string_view>

#include "base/collectives.h"

namespace sumac {

enum class Algorithm : std::uint8_t {
#define SUMAC_ALGORITHM(collective, name, needs, order, tuned, description, unruled) \
  collective##_##name,
#include "base/algorithms.def"
#undef SUMAC_ALGORITHM
  native,  // the call is handed to the MPI, because the rules find it faster there
};
inline constexpr int kNumAlgorithms = static_cast<int>(Algorithm::native);

// The array lists the rows of the table in its order.
inline constexpr std::array<Algorithm, kNumAlgorithms> kAllAlgorithms = {
#define SUMAC_ALGORITHM(collective, name, needs, order, tuned, description, unruled) \
  Algorithm::collective##_##name,
#include "base/algorithms.def"
#undef SUMAC_ALGORITHM
};

// algorithms.def explains the values of this column and of the next ones.
enum class Needs : std::uint8_t {
  lines,
  slots,
  single_copy,
  maps,
  messages,
  levels,
  levels_one_group,
  levels_messages,
  levels_equal_nodes,
  levels_all_ranks,
  levels_slow_ranks,
  levels_single_copy
};
// Returns true if all ranks of each node share the work of a call (levels/all_ranks.h).
constexpr bool is_of_all_ranks(Needs needs) {
  return needs == Needs::levels_all_ranks || needs == Needs::levels_slow_ranks;
}
enum class Order : std::uint8_t { none, rank, tree, rotated };
enum class Tuned : std::uint8_t { nothing, chunk, radix };

struct AlgorithmInfo {
  const char* name;
  Collective collective;
  Needs needs;
  Order order;
  Tuned tuned;
  const char* description;
};

inline constexpr AlgorithmInfo kAlgorithmInfos[] = {
#define SUMAC_ALGORITHM(collective, name, needs, order, tuned, description, unruled) \
  {#name, Collective::collective, Needs::needs, Order::order, Tuned::tuned, description},
#include "base/algorithms.def"
#undef SUMAC_ALGORITHM
};

// Algorithm::native has no row, so callers must not ask for it. AddressSanitizer does not see an
// access beyond an inline table, hence the assertion.
constexpr const AlgorithmInfo& info_of(Algorithm algorithm) {
  assert(algorithm != Algorithm::native);
  return kAlgorithmInfos[static_cast<int>(algorithm)];
}

// Returns the name that users write. Two collectives may have algorithms of the same name.
constexpr const char* name_of(Algorithm algorithm) {
  return algorithm == Algorithm::native ? "native" : info_of(algorithm).name;
}

// An algorithm works in a group that shares memory (shm), in a group whose ranks reach each other
// by messages (p2p), or in a whole communicator with a hierarchy, whose levels are groups of the
// former kinds (levels).
enum class Over : std::uint8_t { shm, p2p, levels };

constexpr Over over_of(Needs needs) {
  if (needs < Needs::messages) return Over::shm;
  return needs == Needs::messages ? Over::p2p : Over::levels;
}

// Returns true if the algorithm reaches into other ranks' memory.
constexpr bool needs_single_copy(const AlgorithmInfo& info) {
  return info.needs == Needs::single_copy || info.needs == Needs::levels_single_copy;
}

}  // namespace sumac
