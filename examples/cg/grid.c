/* SPDX-License-Identifier: BSD-3-Clause */
#include "grid.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void* allocate(size_t elements) {
  void* memory = calloc(elements, sizeof(double));
  if (!memory) {
    fprintf(stderr, "cg: out of memory\n");
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  return memory;
}

void grid_init(struct grid* grid, int cells) {
  const int periodic[kDimensions] = {0, 0, 0};
  memset(grid, 0, sizeof *grid);
  grid->cells = cells;
  MPI_Comm_size(MPI_COMM_WORLD, &grid->ranks);
  MPI_Dims_create(grid->ranks, kDimensions, grid->boxes);
  MPI_Cart_create(MPI_COMM_WORLD, kDimensions, grid->boxes, periodic, 1, &grid->comm);
  MPI_Comm_rank(grid->comm, &grid->rank);
  MPI_Cart_coords(grid->comm, grid->rank, kDimensions, grid->place);
  for (int d = 0; d < kDimensions; ++d)
    MPI_Cart_shift(grid->comm, d, 1, &grid->neighbours[2 * d], &grid->neighbours[2 * d + 1]);
  for (int face = 0; face < kFaces; ++face) {
    grid->outgoing[face] = allocate((size_t)cells * (size_t)cells);
    grid->incoming[face] = allocate((size_t)cells * (size_t)cells);
  }
}

void grid_free(struct grid* grid) {
  for (int face = 0; face < kFaces; ++face) {
    free(grid->outgoing[face]);
    free(grid->incoming[face]);
  }
  MPI_Comm_free(&grid->comm);
}

size_t grid_volume(const struct grid* grid) {
  size_t width = (size_t)grid->cells + 2;
  return width * width * width;
}

/* Index in the field of cell (a, b) of the layer at `depth` in dimension d. */
static size_t face_cell(const struct grid* grid, int d, int depth, int a, int b) {
  if (d == 0) return grid_at(grid, depth, a, b);
  if (d == 1) return grid_at(grid, a, depth, b);
  return grid_at(grid, a, b, depth);
}

static void pack_face(const struct grid* grid, int face, const double* field) {
  const int n = grid->cells, depth = face % 2 ? n - 1 : 0;
  double* to = grid->outgoing[face];
  for (int b = 0; b < n; ++b)
    for (int a = 0; a < n; ++a) *to++ = field[face_cell(grid, face / 2, depth, a, b)];
}

static void unpack_face(const struct grid* grid, int face, double* field) {
  const int n = grid->cells, depth = face % 2 ? n : -1;
  const double* from = grid->incoming[face];
  for (int b = 0; b < n; ++b)
    for (int a = 0; a < n; ++a) field[face_cell(grid, face / 2, depth, a, b)] = *from++;
}

void grid_exchange(const struct grid* grid, double* field) {
  const int count = grid->cells * grid->cells;
  MPI_Request requests[2 * kFaces];
  MPI_Status statuses[2 * kFaces];
  int pending = 0;
  for (int face = 0; face < kFaces; ++face) {
    if (grid->neighbours[face] == MPI_PROC_NULL) continue;
    /* Data sent through a face arrives at the opposite face of the neighbour. */
    MPI_Irecv(grid->incoming[face], count, MPI_DOUBLE, grid->neighbours[face], face ^ 1, grid->comm,
              &requests[pending++]);
  }
  for (int face = 0; face < kFaces; ++face) {
    if (grid->neighbours[face] == MPI_PROC_NULL) continue;
    pack_face(grid, face, field);
    MPI_Isend(grid->outgoing[face], count, MPI_DOUBLE, grid->neighbours[face], face, grid->comm,
              &requests[pending++]);
  }
  MPI_Waitall(pending, requests, statuses);
  for (int face = 0; face < kFaces; ++face)
    if (grid->neighbours[face] != MPI_PROC_NULL) unpack_face(grid, face, field);
}
