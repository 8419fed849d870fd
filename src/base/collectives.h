// SPDX-License-Identifier: BSD-3-Clause
// This header has the rows of collectives.def in C++.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace sumac {

enum class Collective : std::uint8_t {
#define SUMAC_COLLECTIVE(name, mpi, root, data, sized, reduces, divided, arguments, simulated, \
                         ranks)                                                                \
  name,
#include "base/collectives.def"
#undef SUMAC_COLLECTIVE
};

// The column `ranks` of collectives.def says who takes part.
enum class Among : std::uint8_t { levels, none };
// The column `divided` says how a call's data are divided among the ranks.
enum class Divided : std::uint8_t { whole, parts, blocks };
// The column `arguments` says what the algorithms take (algorithms/arguments.h).
enum class ArgumentKind : std::uint8_t { reduction, bcast, reduce_scatter, allgather, alltoall };

struct CollectiveInfo {
  Collective collective;
  const char* name;
  const char* mpi_name;
  bool has_root, has_data, is_sized, reduces;
  Divided divided;
  ArgumentKind arguments;
  Among among;
};

inline constexpr CollectiveInfo kCollectives[] = {
#define SUMAC_COLLECTIVE(name, mpi, root, data, sized, reduces, divided, arguments, simulated, \
                         ranks)                                                                \
  {Collective::name,                                                                           \
   #name,                                                                                      \
   mpi,                                                                                        \
   root != 0,                                                                                  \
   data != 0,                                                                                  \
   sized != 0,                                                                                 \
   reduces != 0,                                                                               \
   Divided::divided,                                                                           \
   ArgumentKind::arguments,                                                                    \
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

}  // namespace sumac
