// SPDX-License-Identifier: BSD-3-Clause
// A random call as a value. It follows from the program's seed and the call's number alone, so all
// ranks draw the same, and a call stays what it is when others are left out.
#pragma once

#include <algorithm>
#include <array>
#include <string>

#include "mpi/cases.h"

namespace test::sweep {

enum class Kind {
  allreduce,
  reduce,
  reduce_scatter_block,
  reduce_scatter,
  bcast,
  allgather,
  allgatherv,
  alltoall,
  alltoallv,
  alltoallw,
  barrier,
  message,
};

struct KindInfo {
  What what;        // of a collective
  unsigned weight;  // how often it is drawn
};

inline const KindInfo& info_of(Kind kind) {
  static constexpr KindInfo kInfos[] = {
      {What::allreduce, 6},      {What::reduce, 4},   {What::reduce_scatter_block, 2},
      {What::reduce_scatter, 2}, {What::bcast, 5},    {What::allgather, 2},
      {What::allgatherv, 2},     {What::alltoall, 2}, {What::alltoallv, 2},
      {What::alltoallw, 1},      {What::barrier, 2},  {What::barrier, 4}};
  return kInfos[static_cast<int>(kind)];
}

inline Kind draw_kind(Random& random) {
  constexpr int kKinds = static_cast<int>(Kind::message) + 1;
  unsigned sum = 0;
  for (int k = 0; k < kKinds; ++k) sum += info_of(static_cast<Kind>(k)).weight;
  auto at = static_cast<unsigned>(random.below(sum));
  int k = 0;
  while (at >= info_of(static_cast<Kind>(k)).weight) at -= info_of(static_cast<Kind>(k++)).weight;
  return static_cast<Kind>(k);
}

struct Spec {
  int number = 0;  // its place in the program
  Kind kind = Kind::barrier;
  Form form = Form::blocking;
  bool large = false;     // MPI_X_c, with counts of type MPI_Count
  bool in_place = false;  // where the call allows it
  bool fours = false;     // counts are multiples of 4, for types of several elements
  int communicator = 0;
  std::uint64_t root = 0;   // modulo the number of ranks
  std::size_t bytes = 0;    // that a rank gives or gets, about
  std::uint64_t what = 0;   // element type, or type and operation: modulo their number
  std::uint64_t state = 0;  // for all further choices
  int starts = 1;           // of a persistent one
  int apart = 1;            // steps from one start to the next

  What what_is_called() const { return info_of(kind).what; }
};

// Mostly small, often near a size where lines, slots, chunks or algorithms change, seldom `most`.
inline std::size_t draw_bytes(Random& random, std::size_t most) {
  constexpr std::array<std::size_t, 12> kThresholds{0,    8,     56,    64,    448,    2048,
                                                    4096, 16384, 32768, 65536, 131072, 262144};
  std::size_t bytes = random.below(300);
  const auto way = random.below(24);
  if (way == 0) bytes = random.below(320 << 10);
  if (way >= 1 && way < 3) bytes = random.below(20000);
  if (way >= 3 && way < 10) {
    bytes = kThresholds[random.below(way == 3 ? 12 : 8)] + random.below(41);
    bytes -= std::min<std::size_t>(bytes, 16);
  }
  if (way == 10) bytes = 0;
  return std::min(bytes, most);
}

// Where ranks share processors, each blocking call may last until every rank had its turn. So in
// most programs only few are blocking, and many operations are under way at a time.
inline bool is_in_flow(std::uint64_t seed) { return mix(seed + 0xf10) % 4 != 0; }

inline Form draw_form(Random& random, bool in_flow) {
  const auto way = random.below(8);
  const bool blocking = in_flow ? random.below(24) == 0 : way < 3;
  return blocking ? Form::blocking : way < 6 ? Form::nonblocking : Form::persistent;
}

inline Spec draw(std::uint64_t seed, int number, int communicators, std::size_t most_bytes) {
  Random random(mix(seed * 0x9e3779b97f4a7c15ull + 0x51) + static_cast<std::uint64_t>(number));
  Spec spec;
  spec.number = number;
  spec.kind = draw_kind(random);
  spec.form = draw_form(random, is_in_flow(seed));
  spec.large = random.below(6) == 0;
  spec.in_place = random.below(3) == 0;
  spec.fours = random.below(3) == 0;
  spec.communicator = static_cast<int>(random.below(static_cast<std::uint64_t>(communicators)));
  spec.root = random.next();
  spec.bytes = draw_bytes(random, most_bytes);
  spec.what = random.next();
  spec.state = random.next();
  spec.starts = spec.form == Form::persistent ? 1 + static_cast<int>(random.below(4)) : 1;
  spec.apart = 1 + static_cast<int>(random.below(6));
  return spec;
}

}  // namespace test::sweep
