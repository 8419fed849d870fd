/* SPDX-License-Identifier: BSD-3-Clause */
#include "grid.h"

#include <math.h>
#include <stdlib.h>

static double* cell(const struct grid* grid, double* field, int row, int column) {
  return field + (size_t)(row + grid->radius) * grid->width + column + grid->radius;
}

void grid_init(struct grid* grid, int cells, int radius) {
  const int ends[2] = {0, 0};
  int ranks, rank;
  *grid = (struct grid){.cells = cells, .radius = radius, .width = cells + 2 * radius};
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Dims_create(ranks, 2, grid->ranks);
  MPI_Cart_create(MPI_COMM_WORLD, 2, grid->ranks, ends, 1, &grid->comm);
  MPI_Comm_rank(grid->comm, &rank);
  MPI_Cart_coords(grid->comm, rank, 2, grid->place);
  MPI_Type_vector(cells, radius, grid->width, MPI_DOUBLE, &grid->columns);
  MPI_Type_commit(&grid->columns);
  MPI_Pack_size(1, grid->columns, grid->comm, &grid->packed_bytes);
  const size_t volume = (size_t)grid->width * grid->width;
  grid->in = calloc(volume, sizeof *grid->in);
  grid->out = calloc(volume, sizeof *grid->out);
  for (int i = 0; i < 2; ++i) grid->packed[i] = malloc((size_t)grid->packed_bytes);
  if (!grid->in || !grid->out || !grid->packed[0] || !grid->packed[1]) MPI_Abort(MPI_COMM_WORLD, 1);
  for (int i = 0; i < cells; ++i)
    for (int j = 0; j < cells; ++j)
      *cell(grid, grid->in, i, j) =
          (double)(grid->place[0] * cells + i) + (double)(grid->place[1] * cells + j);
}

void grid_free(struct grid* grid) {
  free(grid->in);
  free(grid->out);
  for (int i = 0; i < 2; ++i) free(grid->packed[i]);
  MPI_Type_free(&grid->columns);
  MPI_Comm_free(&grid->comm);
}

/* Sends the rows from `from` on to the one neighbour, and receives those from `to` on from the
 * other. */
static void shift_rows(struct grid* grid, int from, int to, int displacement) {
  int source, target;
  const int count = grid->radius * grid->width;
  MPI_Cart_shift(grid->comm, 0, displacement, &source, &target);
  MPI_Sendrecv(cell(grid, grid->in, from, -grid->radius), count, MPI_DOUBLE, target, 0,
               cell(grid, grid->in, to, -grid->radius), count, MPI_DOUBLE, source, 0, grid->comm,
               MPI_STATUS_IGNORE);
}

/* The same for columns, which are packed. */
static void shift_columns(struct grid* grid, int from, int to, int displacement) {
  int source, target, position = 0, end = 0;
  MPI_Cart_shift(grid->comm, 1, displacement, &source, &target);
  double start = MPI_Wtime();
  if (target != MPI_PROC_NULL)
    MPI_Pack(cell(grid, grid->in, 0, from), 1, grid->columns, grid->packed[0], grid->packed_bytes,
             &position, grid->comm);
  grid->packing_seconds += MPI_Wtime() - start;
  MPI_Sendrecv(grid->packed[0], position, MPI_PACKED, target, 0, grid->packed[1],
               grid->packed_bytes, MPI_PACKED, source, 0, grid->comm, MPI_STATUS_IGNORE);
  start = MPI_Wtime();
  if (source != MPI_PROC_NULL)
    MPI_Unpack(grid->packed[1], grid->packed_bytes, &end, cell(grid, grid->in, 0, to), 1,
               grid->columns, grid->comm);
  grid->packing_seconds += MPI_Wtime() - start;
}

static void exchange(struct grid* grid) {
  const int last = grid->cells - grid->radius;
  shift_rows(grid, 0, grid->cells, -1);
  shift_rows(grid, last, -grid->radius, 1);
  shift_columns(grid, 0, grid->cells, -1);
  shift_columns(grid, last, -grid->radius, 1);
}

/* The rows or columns of a rank whose stencil lies within the whole grid: [*first, *end). */
static void inside(const struct grid* grid, int dimension, int* first, int* end) {
  const int is_last = grid->place[dimension] == grid->ranks[dimension] - 1;
  *first = grid->place[dimension] == 0 ? grid->radius : 0;
  *end = is_last ? grid->cells - grid->radius : grid->cells;
}

void grid_step(struct grid* grid) {
  int rows[2], columns[2];
  exchange(grid);
  inside(grid, 0, &rows[0], &rows[1]);
  inside(grid, 1, &columns[0], &columns[1]);
  for (int i = rows[0]; i < rows[1]; ++i) {
    double* const out = cell(grid, grid->out, i, 0);
    for (int k = 1; k <= grid->radius; ++k) {
      const double* const here = cell(grid, grid->in, i, 0);
      const double* const below = cell(grid, grid->in, i + k, 0);
      const double* const above = cell(grid, grid->in, i - k, 0);
      const double weight = 1.0 / (2.0 * k * grid->radius);
      for (int j = columns[0]; j < columns[1]; ++j)
        out[j] += weight * (below[j] - above[j] + here[j + k] - here[j - k]);
    }
  }
  for (int i = 0; i < grid->cells; ++i)
    for (int j = 0; j < grid->cells; ++j) *cell(grid, grid->in, i, j) += 1;
}

double grid_error(const struct grid* grid, int steps) {
  int rows[2], columns[2];
  double error = 0, greatest = 0;
  inside(grid, 0, &rows[0], &rows[1]);
  inside(grid, 1, &columns[0], &columns[1]);
  /* The stencil is the sum of both derivatives, which are 1. */
  for (int i = rows[0]; i < rows[1]; ++i)
    for (int j = columns[0]; j < columns[1]; ++j)
      error = fmax(error, fabs(*cell(grid, grid->out, i, j) - 2.0 * steps));
  MPI_Allreduce(&error, &greatest, 1, MPI_DOUBLE, MPI_MAX, grid->comm);
  return greatest;
}
