/* SPDX-License-Identifier: BSD-3-Clause */
/* A plain MPI program: a star-shaped stencil on a 2-D grid, after that of the Parallel Research
 * Kernels (Van der Wijngaart and Mattson, HPEC 2014). Before each step ranks exchange halos as wide
 * as the stencil's radius. Rows adjoin in memory; columns do not, and are packed by MPI_Pack as a
 * vector datatype. Prints the time, and how much of it was spent packing and unpacking. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "grid.h"

static const char kUsage[] =
    "usage: stencil [-n CELLS] [-r RADIUS] [-i STEPS]\n"
    "  -n  cells of a rank along each dimension (1000)\n"
    "  -r  radius of the stencil, and width of a halo, 1 to 8 (1)\n"
    "  -i  steps (20)\n";

struct options {
  int cells, radius, steps;
};

static int parse(int argc, char** argv, struct options* options) {
  int option;
  opterr = 0;
  *options = (struct options){1000, 1, 20};
  while ((option = getopt(argc, argv, "n:r:i:")) != -1) {
    int* const value = option == 'n'   ? &options->cells
                       : option == 'r' ? &options->radius
                       : option == 'i' ? &options->steps
                                       : NULL;
    char* end;
    if (!value) return 0;
    *value = (int)strtol(optarg, &end, 10);
    if (*end || end == optarg || *value < 1 || *value > 1000000) return 0;
  }
  return optind == argc && options->radius <= 8 && options->cells <= 20000 &&
         options->cells >= options->radius;
}

int main(int argc, char** argv) {
  struct options options;
  struct grid grid;
  int rank, status = 2;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (!parse(argc, argv, &options)) {
    if (rank == 0) fputs(kUsage, stderr);
  } else {
    grid_init(&grid, options.cells, options.radius);
    MPI_Barrier(grid.comm);
    const double start = MPI_Wtime();
    for (int i = 0; i < options.steps; ++i) grid_step(&grid);
    double times[2] = {MPI_Wtime() - start, grid.packing_seconds}, slowest[2] = {0, 0};
    MPI_Reduce(times, slowest, 2, MPI_DOUBLE, MPI_MAX, 0, grid.comm);
    const double error = grid_error(&grid, options.steps);
    if (rank == 0) {
      printf("ranks       %d x %d\n", grid.ranks[0], grid.ranks[1]);
      printf("cells       %d^2 a rank, radius %d\n", options.cells, options.radius);
      printf("steps       %d\n", options.steps);
      printf("seconds     %.6f\n", slowest[0]);
      printf("packing     %.6f\n", slowest[1]);
      printf("error       %.1e\n", error);
    }
    status = !(error < 1e-8); /* written so that a NaN is an error */
    grid_free(&grid);
  }
  MPI_Finalize();
  return status;
}
