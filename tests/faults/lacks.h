// SPDX-License-Identifier: BSD-3-Clause
// Communicators made while something is lacking: they work, whoever serves them, and all ranks
// agree on who does.
#pragma once

#include <vector>

#include "../mpi/exercise.h"

namespace test {

// Whether any of the ranks, or all, say so.
inline bool on_any(bool here) {
  int own = here, all = 0;
  native().Allreduce(&own, &all, 1, MPI_INT, MPI_LOR, MPI_COMM_WORLD);
  return all != 0;
}
inline bool on_all(bool here) { return !on_any(!here); }

// More than fits into a slot, so that Sumac uses what it has for large messages.
inline void use_much(MPI_Comm comm, int seed) {
  const std::size_t count = 100000;
  std::vector<int> in(count, rank + seed), out(count, -1);
  MPI_Allreduce(in.data(), out.data(), static_cast<int>(count), MPI_INT, MPI_SUM, comm);
  int p = 0;
  MPI_Comm_size(comm, &p);
  const int sum = p * (p - 1) / 2 + p * seed;
  CHECK(out.front() == sum && out[count / 2] == sum && out.back() == sum, "%d, not %d, '%s'",
        out[count / 2], sum, path());
}

// Makes a communicator of all ranks, uses it, frees it. Returns whether Sumac served it.
inline bool use_new(int seed) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  for (int i = 0; i < 3; ++i) use(comm, seed + i);
  const bool served = was_taken();
  CHECK(on_all(served) || on_all(!served), "ranks do not agree: '%s'", path());
  use_much(comm, seed);
  MPI_Comm_free(&comm);
  return served;
}

}  // namespace test
