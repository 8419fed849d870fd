/* SPDX-License-Identifier: BSD-3-Clause */
#include "solver.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "field.h"

enum { kFields = 8 };

void solver_init(struct solver* solver, struct grid* grid) {
  const size_t volume = grid_volume(grid);
  double* fields = calloc(kFields * volume + (size_t)grid->cells, sizeof *fields);
  if (!fields) {
    fprintf(stderr, "cg: out of memory\n");
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  *solver = (struct solver){.grid = grid,
                            .x = fields,
                            .b = fields + volume,
                            .r = fields + 2 * volume,
                            .p = fields + 3 * volume,
                            .s = fields + 4 * volume,
                            .w = fields + 5 * volume,
                            .q = fields + 6 * volume,
                            .z = fields + 7 * volume,
                            .columns = fields + kFields * volume};
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

double solver_true_residual(struct solver* solver) {
  struct grid* grid = solver->grid;
  double mine[2], sums[2];
  field_laplacian(grid, solver->x, solver->r);
  field_combine(grid, solver->r, -1, solver->b, 1);
  mine[0] = field_dot(grid, solver->r, solver->r, solver->columns);
  mine[1] = field_dot(grid, solver->b, solver->b, solver->columns);
  MPI_Allreduce(mine, sums, 2, MPI_DOUBLE, MPI_SUM, grid->comm);
  return sqrt(sums[0] / sums[1]);
}
