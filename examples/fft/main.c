/* SPDX-License-Identifier: BSD-3-Clause */
/* A plain MPI program: the 2-D Fourier transform of a field that is a sum of waves, by FFTW's 1-D
 * transforms of rows. Between those of the rows and those of the columns the field is transposed by
 * one MPI_Alltoallw of derived datatypes: no rank packs anything itself. Prints the time, and how
 * much of it was spent transposing. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "field.h"

static const char kUsage[] =
    "usage: fft [-n ORDER] [-i TIMES]\n"
    "  -n  rows and columns of the field, 8 to 30000 (1000)\n"
    "  -i  how often it is transformed (10)\n";

static int parse(int argc, char** argv, int* order, int* times) {
  int option;
  opterr = 0;
  while ((option = getopt(argc, argv, "n:i:")) != -1) {
    int* const value = option == 'n' ? order : option == 'i' ? times : NULL;
    char* end;
    if (!value) return 0;
    *value = (int)strtol(optarg, &end, 10);
    if (*end || end == optarg || *value < 1 || *value > 30000) return 0;
  }
  return optind == argc && *order >= 8;
}

static int run(int order, int times) {
  struct field field;
  double seconds[2] = {0, 0}, slowest[2] = {0, 0};
  field_init(&field, order);
  for (int i = 0; i < times; ++i) {
    field_fill(&field);
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    field_transform(&field);
    seconds[0] += MPI_Wtime() - start;
  }
  seconds[1] = field.transpose_seconds;
  MPI_Reduce(seconds, slowest, 2, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  const double error = field_error(&field);
  if (field.rank == 0) {
    printf("ranks       %d\n", field.ranks);
    printf("order       %d, transformed %d times\n", order, times);
    printf("seconds     %.6f\n", slowest[0]);
    printf("transposing %.6f\n", slowest[1]);
    printf("error       %.1e\n", error);
  }
  field_free(&field);
  return !(error < 1e-11); /* written so that a NaN is an error */
}

int main(int argc, char** argv) {
  int rank, status = 2, order = 1000, times = 10;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (parse(argc, argv, &order, &times))
    status = run(order, times);
  else if (rank == 0)
    fputs(kUsage, stderr);
  MPI_Finalize();
  return status;
}
