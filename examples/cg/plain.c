/* SPDX-License-Identifier: BSD-3-Clause */
/* Conjugate gradients after Hestenes and Stiefel. Each iteration has two dot products; each is an
 * all-reduce that the next step waits for. */
#include <math.h>
#include <string.h>

#include "field.h"
#include "solver.h"

/* The dot product of two fields over the cells of all ranks. */
static double dot(struct solver* solver, const double* a, const double* b) {
  const struct grid* grid = solver->grid;
  const double mine = field_dot(grid, a, b, solver->columns);
  double sum;
  const double start = MPI_Wtime();
  MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, grid->comm);
  solver->collective_seconds += MPI_Wtime() - start;
  return sum;
}

int solver_run_plain(struct solver* solver, double tolerance, int limit, double* history) {
  struct grid* grid = solver->grid;
  const size_t bytes = grid_volume(grid) * sizeof(double);
  memset(solver->x, 0, bytes);
  memcpy(solver->r, solver->b, bytes);
  memcpy(solver->p, solver->b, bytes);
  double square = dot(solver, solver->r, solver->r);
  const double goal = tolerance * sqrt(square);
  for (int i = 0; i < limit; ++i) {
    field_laplacian(grid, solver->p, solver->s);
    const double step = square / dot(solver, solver->p, solver->s);
    field_combine(grid, solver->x, 1, solver->p, step);
    field_combine(grid, solver->r, 1, solver->s, -step);
    const double next = dot(solver, solver->r, solver->r);
    history[i] = sqrt(next);
    ++solver->iterations;
    if (history[i] <= goal) return i + 1;
    field_combine(grid, solver->p, next / square, solver->r, 1);
    square = next;
  }
  return -1;
}
