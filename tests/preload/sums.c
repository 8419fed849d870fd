// SPDX-License-Identifier: BSD-3-Clause
// A small MPI program: every rank checks an all-reduce, and rank 0 prints the result.
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank, size, sum = 0;
  double parts[3], sums[3];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int i = 0; i < 3; ++i) parts[i] = rank + i;
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Reduce(parts, sums, 3, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  MPI_Bcast(sums, 3, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  const int expected = size * (size - 1) / 2;
  int right = sum == expected;
  for (int i = 0; i < 3; ++i) right &= sums[i] == expected + size * i;
  if (rank == 0) printf("sums of %d ranks: %s\n", size, right ? "right" : "wrong");
  MPI_Finalize();
  return right ? 0 : 1;
}
