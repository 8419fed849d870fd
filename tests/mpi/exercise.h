// SPDX-License-Identifier: BSD-3-Clause
// A few small collectives on any communicator, with their results checked.
#pragma once

#include "check.h"
#include "data.h"

namespace test {

// Makes three calls; in the second all ranks wait for all, so the third one on a communicator can
// be served. A different `seed` gives different data.
inline void use(MPI_Comm comm, int seed) {
  int r, p;
  MPI_Comm_rank(comm, &r);
  MPI_Comm_size(comm, &p);
  const int ranks_sum = p * (p - 1) / 2;

  const int root = seed % p;
  int message[40];
  for (int i = 0; i < 40; ++i) message[i] = r == root ? seed + i : -1;
  MPI_Bcast(message, 40, MPI_INT, root, comm);
  bool right = true;
  for (int i = 0; i < 40; ++i) right &= message[i] == seed + i;
  CHECK(right, "broadcast of %d from %d, '%s'", seed, root, path());

  const int own[3] = {r, seed, r * 2};
  int sums[3] = {-1, -1, -1};
  MPI_Allreduce(own, sums, 3, MPI_INT, MPI_SUM, comm);
  CHECK(sums[0] == ranks_sum && sums[1] == seed * p && sums[2] == 2 * ranks_sum,
        "%d %d %d of %d ranks, seed %d, '%s'", sums[0], sums[1], sums[2], p, seed, path());

  double least = -1;
  const double mine = seed + r;
  MPI_Reduce(&mine, r == root ? &least : nullptr, 1, MPI_DOUBLE, MPI_MIN, root, comm);
  CHECK(r != root || least == seed, "%g, seed %d, '%s'", least, seed, path());
}

}  // namespace test
