// SPDX-License-Identifier: BSD-3-Clause
// This header turns the rows of collectives.def and algorithms.def into names and properties. The
// functions of algorithms are in algorithms/table.h.
#pragma once

#include <array>
#include <cassert>
#include <cstdint>
#include <string_view>
#include <vector>

namespace sumac {

enum class Collective : std::uint8_t {
#define SUMAC_COLLECTIVE(name, mpi, root, result, sized, reduces, divided, arguments, simulated, \
                         ranks)                                                                  \
  name,
#include "base/collectives.def"
#undef SUMAC_COLLECTIVE
};

// The column `ranks` of collectives.def says who takes part.
enum class Among : std::uint8_t { levels, none };
// The column `result` says who gets one.
enum class Result : std::uint8_t { all, own, root, none };
// The column `divided` says how a call's data are divided among the ranks.
enum class Divided : std::uint8_t { whole, parts, blocks };
// The column `arguments` says what the algorithms take (algorithms/arguments.h).
enum class ArgumentKind : std::uint8_t { reduction, bcast, reduce_scatter, allgather, alltoall };

struct CollectiveInfo {
  Collective collective;
  const char* name;
  const char* mpi_name;
  bool has_root, has_data, is_sized, reduces;
  Result result;
  Divided divided;
  ArgumentKind arguments;
  Among among;
};

inline constexpr CollectiveInfo kCollectives[] = {
#define SUMAC_COLLECTIVE(name, mpi, root, result, sized, reduces, divided, arguments, simulated, \
                         ranks)                                                                  \
  {Collective::name,                                                                             \
   #name,                                                                                        \
   mpi,                                                                                          \
   root != 0,                                                                                    \
   Result::result != Result::none,                                                               \
   sized != 0,                                                                                   \
   reduces != 0,                                                                                 \
   Result::result,                                                                               \
   Divided::divided,                                                                             \
   ArgumentKind::arguments,                                                                      \
   Among::ranks},
#include "base/collectives.def"
#undef SUMAC_COLLECTIVE
};
inline constexpr int kNumCollectives = sizeof kCollectives / sizeof *kCollectives;

constexpr const CollectiveInfo& info_of(Collective collective) {
  return kCollectives[static_cast<int>(collective)];
}
constexpr const char* name_of(Collective collective) { return info_of(collective).name; }

// Returns true for collectives of a communicator's ranks.
constexpr bool is_of_ranks(Collective collective) {
  return info_of(collective).among != Among::none;
}

// Return true for collectives whose root gets the data of all, or gives data to all.
constexpr bool is_to_root(Collective collective) {
  return info_of(collective).result == Result::root;
}
constexpr bool is_from_root(Collective collective) {
  return info_of(collective).has_root && !is_to_root(collective);
}

// Returns true if this rank gets a result. `root` may be any if the collective has none.
constexpr bool gets_result(Collective collective, int rank, int root) {
  return is_to_root(collective) ? rank == root : info_of(collective).has_data;
}

// Returns true for collectives in which each rank gives each other rank data of its own.
constexpr bool is_all_to_all(Collective collective) {
  return info_of(collective).divided == Divided::blocks;
}

// Returns true for collectives whose data have a part for each rank.
constexpr bool has_parts(Collective collective) {
  return info_of(collective).divided != Divided::whole;
}

// Returns null if no collective has that name.
inline const CollectiveInfo* find_collective(std::string_view name) {
  for (const CollectiveInfo& info : kCollectives) {
    if (name == info.name) return &info;
  }
  return nullptr;
}

inline std::vector<const char*> collective_names(bool (*fits)(Collective)) {
  std::vector<const char*> names;
  for (const CollectiveInfo& info : kCollectives) {
    if (fits(info.collective)) names.push_back(info.name);
  }
  return names;
}

enum class Algorithm : std::uint8_t {
#define SUMAC_ALGORITHM(collective, name, needs, order, tuned, early, description, unruled) \
  collective##_##name,
#include "base/algorithms.def"
#undef SUMAC_ALGORITHM
  native,  // the call is handed to the MPI, because the rules find it faster there
};
inline constexpr int kNumAlgorithms = static_cast<int>(Algorithm::native);

// The array lists the rows of the table in its order.
inline constexpr std::array<Algorithm, kNumAlgorithms> kAllAlgorithms = {
#define SUMAC_ALGORITHM(collective, name, needs, order, tuned, early, description, unruled) \
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
  bool early;
  const char* description;
};

inline constexpr AlgorithmInfo kAlgorithmInfos[] = {
#define SUMAC_ALGORITHM(collective, name, needs, order, tuned, early, description, unruled)  \
  {#name,      Collective::collective, Needs::needs, Order::order, Tuned::tuned, early != 0, \
   description},
#include "base/algorithms.def"
#undef SUMAC_ALGORITHM
};

// Algorithm::native has no row, so callers must not ask for it. AddressSanitizer does not see an
// access beyond an inline table, hence the assertion.
constexpr const AlgorithmInfo& info_of(Algorithm algorithm) {
  assert(algorithm != Algorithm::native);
  return kAlgorithmInfos[static_cast<int>(algorithm)];
}

// Returns the collective's algorithm in mapped memory, or native.
constexpr Algorithm direct_of(Collective collective) {
  constexpr auto kDirect = [] {
    std::array<Algorithm, kNumCollectives> direct;
    direct.fill(Algorithm::native);
    for (const Algorithm algorithm : kAllAlgorithms) {
      const AlgorithmInfo& info = info_of(algorithm);
      if (info.needs == Needs::maps) direct[static_cast<std::size_t>(info.collective)] = algorithm;
    }
    return direct;
  }();
  return kDirect[static_cast<std::size_t>(collective)];
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
