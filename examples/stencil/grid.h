/* SPDX-License-Identifier: BSD-3-Clause */
/* A rank's cells of a 2-D grid, with a halo on each side. */
#pragma once

#include <mpi.h>

struct grid {
  MPI_Comm comm;        /* ranks as a grid that ends at its edges */
  int ranks[2];         /* along each dimension */
  int place[2];         /* this rank's */
  int cells, radius;    /* of a rank, along each dimension; of the stencil */
  int width;            /* doubles from one row to the next */
  double *in, *out;     /* `in` with halos, `out` of the same shape */
  MPI_Datatype columns; /* as many columns as the radius */
  char* packed[2];      /* of the columns that are sent and received */
  int packed_bytes;
  double packing_seconds;
};

/* Collective. Ends the job when there is no memory. */
void grid_init(struct grid* grid, int cells, int radius);
void grid_free(struct grid* grid);

/* Exchanges halos, adds the stencil of `in` to `out`, and adds 1 to `in`. */
void grid_step(struct grid* grid);

/* The greatest difference between `out` and what `steps` steps should give, over all ranks. */
double grid_error(const struct grid* grid, int steps);
