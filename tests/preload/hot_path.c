// SPDX-License-Identifier: BSD-3-Clause
// hot_path CALLS [nonblocking]: all-reduces of 8 bytes, for hot_path.py.
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int calls = argc > 1 ? atoi(argv[1]) : 1;
  const int nonblocking = argc > 2;
  double one = 1, sum = 0;
  for (int i = 0; i < 2; ++i) MPI_Barrier(MPI_COMM_WORLD);  // nonblocking calls set nothing up
  for (int i = 0; i < calls; ++i) {
    if (nonblocking) {
      MPI_Request request;
      MPI_Iallreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
      MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
  }
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Finalize();
  return sum != ranks;
}
