// SPDX-License-Identifier: BSD-3-Clause
// Random communicators: duplicates and parts of MPI_COMM_WORLD and of one another.
#pragma once

#include <string>
#include <vector>

#include "mpi/groups.h"
#include "notes.h"

namespace test::sweep {

// A communicator, and how it was made. The group of one that this rank is not in is empty.
struct Member : Group {
  std::string made;
  bool served = false;  // Sumac has served a call on it
};

inline MPI_Comm split(MPI_Comm from, int color, int key) {
  MPI_Comm made = MPI_COMM_NULL;
  if (from != MPI_COMM_NULL) MPI_Comm_split(from, color, key, &made);
  return made;
}

inline Member draw_member(Random& random, const std::vector<Member>& others, bool world) {
  const int last = ranks - 1;
  const MPI_Comm of = others.empty() ? MPI_COMM_WORLD : others[random.below(others.size())].comm;
  const auto way = world ? 0 : 1 + random.below(8);
  const auto cut = static_cast<int>(random.below(static_cast<std::uint64_t>(ranks)));
  switch (way) {
    case 0:
      return {group_of(MPI_COMM_WORLD), "MPI_COMM_WORLD"};
    case 1:
    case 2: {
      MPI_Comm dup = MPI_COMM_NULL;
      if (of != MPI_COMM_NULL) MPI_Comm_dup(of, &dup);
      return {group_of(dup), "dup"};
    }
    case 3:
      return {group_of(split(of, 0, -rank)), "reversed"};
    case 4:
      return {group_of(split(of, rank % 2, rank)), "even and odd"};
    case 5:
      return {group_of(split(of, rank < cut, rank)),
              "below " + std::to_string(cut) + " and the others"};
    case 6:
      return {group_of(split(of, rank == 0 || rank == last ? 0 : MPI_UNDEFINED, -rank)),
              "last and first"};
    case 7:
      return {group_of(split(of, rank == cut ? MPI_UNDEFINED : 0, (rank + cut) % ranks)),
              "rotated, without " + std::to_string(cut)};
    default:
      return {group_of(split(of, rank / 3, rank)), "threes"};
  }
}

// Draws the communicators of a program; all ranks must call it. `world`: MPI_COMM_WORLD is one.
inline std::vector<Member> draw_members(Random& random, std::size_t least) {
  std::vector<Member> all;
  const std::size_t count = least + random.below(4);
  while (all.size() < count) all.push_back(draw_member(random, all, all.empty()));
  return all;
}

inline void free_members(std::vector<Member>& all) {
  for (Member& member : all) {
    if (member.comm != MPI_COMM_WORLD && member.comm != MPI_COMM_NULL) MPI_Comm_free(&member.comm);
  }
  all.clear();
}

}  // namespace test::sweep
