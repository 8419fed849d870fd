// SPDX-License-Identifier: BSD-3-Clause
// A communicator and the ranks of its members in MPI_COMM_WORLD; and an inter-communicator.
#pragma once

#include <mpi.h>

#include <vector>

#include "check.h"

namespace test {

struct Group {
  MPI_Comm comm = MPI_COMM_NULL;
  std::vector<int> members;  // their ranks in MPI_COMM_WORLD
  int rank = 0;
  int size() const { return static_cast<int>(members.size()); }
};

// The group of MPI_COMM_NULL is empty.
inline Group group_of(MPI_Comm comm) {
  Group group;
  group.comm = comm;
  if (comm == MPI_COMM_NULL) return group;
  int size;
  MPI_Comm_size(comm, &size);
  MPI_Comm_rank(comm, &group.rank);
  MPI_Group all, own;
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Comm_group(comm, &own);
  std::vector<int> ranks_there(static_cast<std::size_t>(size));
  for (int r = 0; r < size; ++r) ranks_there[static_cast<std::size_t>(r)] = r;
  group.members.resize(ranks_there.size());
  MPI_Group_translate_ranks(own, size, ranks_there.data(), all, group.members.data());
  MPI_Group_free(&own);
  MPI_Group_free(&all);
  return group;
}

inline const Group& world() {
  static const Group group = group_of(MPI_COMM_WORLD);
  return group;
}

// The even and the odd ranks, of which there must be some, and an inter-communicator between them.
struct Sides {
  const int odd = rank % 2;
  MPI_Comm own = MPI_COMM_NULL, between = MPI_COMM_NULL;
  int others = 0;  // ranks of the other side

  Sides() {
    MPI_Comm_split(MPI_COMM_WORLD, odd, rank, &own);
    MPI_Intercomm_create(own, 0, MPI_COMM_WORLD, 1 - odd, 9, &between);
    MPI_Comm_remote_size(between, &others);
  }
  ~Sides() {
    MPI_Comm_free(&between);
    MPI_Comm_free(&own);
  }
  Sides(const Sides&) = delete;
  Sides& operator=(const Sides&) = delete;
  // The root of a rooted collective is rank 0 of MPI_COMM_WORLD.
  int root() const { return odd ? 0 : rank == 0 ? MPI_ROOT : MPI_PROC_NULL; }
};

}  // namespace test
