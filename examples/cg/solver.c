/* SPDX-License-Identifier: BSD-3-Clause */
#include "solver.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void solver_init(struct solver* solver, struct grid* grid) {
  const size_t volume = grid_volume(grid);
  double* fields = calloc(5 * volume + (size_t)grid->cells, sizeof *fields);
  if (!fields) {
    fprintf(stderr, "cg: out of memory\n");
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  *solver = (struct solver){.grid = grid,
                            .x = fields,
                            .b = fields + volume,
                            .r = fields + 2 * volume,
                            .p = fields + 3 * volume,
                            .ap = fields + 4 * volume,
                            .columns = fields + 5 * volume};
}

void solver_free(struct solver* solver) { free(solver->x); }

/* The finaliser of splitmix64: neighbouring inputs give unrelated numbers. */
static double random_number(uint64_t key) {
  key += 0x9e3779b97f4a7c15u;
  key = (key ^ (key >> 30)) * 0xbf58476d1ce4e5b9u;
  key = (key ^ (key >> 27)) * 0x94d049bb133111ebu;
  return (double)((key ^ (key >> 31)) >> 11) * 0x1p-52 - 1.0;
}

void solver_random_rhs(struct solver* solver, unsigned seed) {
  const struct grid* grid = solver->grid;
  const int n = grid->cells;
  const uint64_t width = (uint64_t)n * (uint64_t)grid->boxes[0];
  const uint64_t height = (uint64_t)n * (uint64_t)grid->boxes[1];
  for (int z = 0; z < n; ++z)
    for (int y = 0; y < n; ++y)
      for (int x = 0; x < n; ++x) {
        const uint64_t gx = (uint64_t)grid->place[0] * (uint64_t)n + (uint64_t)x;
        const uint64_t gy = (uint64_t)grid->place[1] * (uint64_t)n + (uint64_t)y;
        const uint64_t gz = (uint64_t)grid->place[2] * (uint64_t)n + (uint64_t)z;
        const uint64_t cell = (gz * height + gy) * width + gx;
        solver->b[grid_at(grid, x, y, z)] = random_number(cell + ((uint64_t)seed << 40));
      }
}

/* The dot product of two fields over the cells of all ranks. Summed by columns: independent sums,
 * which the compiler can put into vectors without changing the order of any. */
static double dot(struct solver* solver, const double* a, const double* b) {
  const struct grid* grid = solver->grid;
  const int n = grid->cells;
  double* restrict columns = solver->columns;
  double mine = 0, sum = 0;
  memset(columns, 0, (size_t)n * sizeof *columns);
  for (int z = 0; z < n; ++z)
    for (int y = 0; y < n; ++y) {
      const size_t row = grid_at(grid, 0, y, z);
      for (int x = 0; x < n; ++x) columns[x] += a[row + (size_t)x] * b[row + (size_t)x];
    }
  for (int x = 0; x < n; ++x) mine += columns[x];
  const double start = MPI_Wtime();
  MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, grid->comm);
  solver->collective_seconds += MPI_Wtime() - start;
  return sum;
}

/* out = A in: six times the cell less its six neighbours. Fills the ghosts of `in`. */
static void apply(const struct grid* grid, double* in, double* out) {
  const int n = grid->cells;
  const size_t row = (size_t)n + 2, plane = row * row;
  grid_exchange(grid, in);
  for (int z = 0; z < n; ++z)
    for (int y = 0; y < n; ++y) {
      const size_t first = grid_at(grid, 0, y, z);
      for (size_t i = first; i < first + (size_t)n; ++i)
        out[i] = 6 * in[i] - in[i - 1] - in[i + 1] - in[i - row] - in[i + row] - in[i - plane] -
                 in[i + plane];
    }
}

/* to = a to + b from, over this rank's cells. */
static void combine(const struct grid* grid, double* to, double a, const double* from, double b) {
  const int n = grid->cells;
  for (int z = 0; z < n; ++z)
    for (int y = 0; y < n; ++y) {
      const size_t first = grid_at(grid, 0, y, z);
      for (size_t i = first; i < first + (size_t)n; ++i) to[i] = a * to[i] + b * from[i];
    }
}

int solver_run(struct solver* solver, double tolerance, int limit, double* history) {
  struct grid* grid = solver->grid;
  const size_t bytes = grid_volume(grid) * sizeof(double);
  memset(solver->x, 0, bytes);
  memcpy(solver->r, solver->b, bytes);
  memcpy(solver->p, solver->b, bytes);
  double square = dot(solver, solver->r, solver->r);
  const double goal = tolerance * sqrt(square);
  for (int i = 0; i < limit; ++i) {
    apply(grid, solver->p, solver->ap);
    const double step = square / dot(solver, solver->p, solver->ap);
    combine(grid, solver->x, 1, solver->p, step);
    combine(grid, solver->r, 1, solver->ap, -step);
    const double next = dot(solver, solver->r, solver->r);
    history[i] = sqrt(next);
    ++solver->iterations;
    if (history[i] <= goal) return i + 1;
    combine(grid, solver->p, next / square, solver->r, 1);
    square = next;
  }
  return -1;
}

double solver_true_residual(struct solver* solver) {
  struct grid* grid = solver->grid;
  apply(grid, solver->x, solver->ap);
  memcpy(solver->r, solver->b, grid_volume(grid) * sizeof(double));
  combine(grid, solver->r, 1, solver->ap, -1);
  return sqrt(dot(solver, solver->r, solver->r) / dot(solver, solver->b, solver->b));
}
