// SPDX-License-Identifier: BSD-3-Clause
// A plug-in with an MPI of its own, for two_mpis.c.
#include <mpi.h>
#include <stddef.h>

#define EXPORT __attribute__((visibility("default")))
EXPORT int plugin_begin(void);
EXPORT int plugin_sum(void);
EXPORT int plugin_end(void);

int plugin_begin(void) { return MPI_Init(NULL, NULL) != MPI_SUCCESS; }

int plugin_sum(void) {
  int wrong = 0, size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int i = 0; i < 20; ++i) {
    int five = 5, sum = 0;
    MPI_Request request;
    MPI_Allreduce(&five, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    wrong += sum != 5 * size;
    MPI_Iallreduce(&five, &sum, 1, MPI_INT, MPI_MAX, MPI_COMM_SELF, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    wrong += sum != 5;
    MPI_Barrier(MPI_COMM_WORLD);
  }
  return wrong;
}

int plugin_end(void) { return MPI_Finalize() != MPI_SUCCESS; }
