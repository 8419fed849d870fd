/* SPDX-License-Identifier: BSD-3-Clause */
/* A box of cells, divided into equal boxes, one per rank. Each has a layer of ghost cells. */
#ifndef CG_GRID_H
#define CG_GRID_H

#include <mpi.h>
#include <stddef.h>

enum { kDimensions = 3, kFaces = 2 * kDimensions };

struct grid {
  MPI_Comm comm;
  int rank, ranks;
  int cells;                /* cells of a rank along each dimension */
  int boxes[kDimensions];   /* ranks along each dimension */
  int place[kDimensions];   /* this rank's box */
  int neighbours[kFaces];   /* 2d: towards 0 in dimension d, 2d + 1: away from it */
  double* outgoing[kFaces]; /* faces of cells, packed */
  double* incoming[kFaces];
};

/* Arranges the ranks of MPI_COMM_WORLD as a box; each rank has cells^3 cells. */
void grid_init(struct grid* grid, int cells);
void grid_free(struct grid* grid);

/* The number of elements of a field, ghosts included. */
size_t grid_volume(const struct grid* grid);

/* The index of cell (x, y, z) in a field. Ghosts have the coordinates -1 and `cells`. */
static inline size_t grid_at(const struct grid* grid, int x, int y, int z) {
  size_t width = (size_t)grid->cells + 2;
  return ((size_t)(z + 1) * width + (size_t)(y + 1)) * width + (size_t)(x + 1);
}

/* Fills the ghosts of a field from the neighbours. Ghosts outside of the whole box keep the value
 * 0, the boundary condition. */
void grid_exchange(const struct grid* grid, double* field);

#endif
