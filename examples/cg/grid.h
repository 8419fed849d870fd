/* SPDX-License-Identifier: BSD-3-Clause */
/* A box of cells cut into equal boxes, one a rank, each with a layer of ghost cells around it. */
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
  int place[kDimensions];   /* this rank's place among them */
  int neighbours[kFaces];   /* 2d: towards 0 in dimension d, 2d + 1: away from it */
  double* outgoing[kFaces]; /* faces of cells, packed */
  double* incoming[kFaces];
};

/* Lays the ranks of MPI_COMM_WORLD out as boxes of cells^3. */
void grid_init(struct grid* grid, int cells);
void grid_free(struct grid* grid);

/* Elements of a field, ghosts included. */
size_t grid_volume(const struct grid* grid);

/* Where the cell (x, y, z) of this rank is in a field; -1 and cells are the ghosts. */
static inline size_t grid_at(const struct grid* grid, int x, int y, int z) {
  size_t width = (size_t)grid->cells + 2;
  return ((size_t)(z + 1) * width + (size_t)(y + 1)) * width + (size_t)(x + 1);
}

/* Fills the ghosts of a field from the neighbours. Those outside of the whole box are left as they
 * are: zero, the boundary condition. */
void grid_exchange(const struct grid* grid, double* field);

#endif
