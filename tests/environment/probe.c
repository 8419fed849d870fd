// SPDX-License-Identifier: BSD-3-Clause
// probe [kill]: makes small to large collectives and checks them; rank 0 prints how they were
// served. With "kill" the last rank kills itself midway.
#include <dlfcn.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static int rank, size;

static const char* last_path(void) {
  const char* (*ask)(void) = (const char* (*)(void))dlsym(RTLD_DEFAULT, "sumac_last_path");
  return ask != NULL ? ask() : "not loaded";
}

// Makes the collectives on vectors of n elements. Returns the number of wrong elements.
static long round_of(int n, int* in, int* out) {
  long wrong = 0;
  const int ranks = size * (size - 1) / 2, root = n % size;
  for (int i = 0; i < n; ++i) in[i] = i + rank;
  MPI_Allreduce(in, out, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < n; ++i) wrong += out[i] != size * i + ranks;
  if (rank == 0) printf("allreduce %d %s\n", n, last_path());
  MPI_Reduce(in, out, n, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD);
  for (int i = 0; rank == root && i < n; ++i) wrong += out[i] != size * i + ranks;
  MPI_Bcast(in, n, MPI_INT, root, MPI_COMM_WORLD);
  for (int i = 0; i < n; ++i) wrong += in[i] != i + root;
  if (rank == 0) printf("bcast %d %s\n", n, last_path());
  MPI_Barrier(MPI_COMM_WORLD);
  return wrong;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  enum { kMost = 1 << 20 };
  int* in = malloc(kMost * sizeof *in);
  int* out = malloc(kMost * sizeof *out);
  long wrong = 0, all = 0;
  for (int n = 1; n <= kMost; n *= 16) wrong += round_of(n, in, out);
  for (int i = 0; i < 2000; ++i) {
    MPI_Allreduce(&rank, out, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    wrong += out[0] != size - 1;
    if (argc > 1 && i == 1000 && rank == size - 1) raise(SIGKILL);
  }
  MPI_Allreduce(&wrong, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("wrong %ld\n", all);
  free(in);
  free(out);
  MPI_Finalize();
  return all != 0;
}
