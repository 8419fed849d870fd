/* SPDX-License-Identifier: BSD-3-Clause */
/* The pipelined method must give the results of the plain one, with any number of ranks. If it
 * does, rank 0 prints "passed: N". */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "field.h"
#include "grid.h"
#include "solver.h"

enum { kLimit = 400 };

static int checks, failures; /* the same on all ranks */

static void check(const struct solver* solver, int good, const char* what) {
  ++checks;
  if (good) return;
  ++failures;
  if (solver->grid->rank == 0)
    printf("FAILED with %d^3 cells, %d tests, replacement %d: %s\n", solver->grid->cells,
           solver->tests, solver->replacement, what);
}

static double norm(const struct solver* solver, const double* field) {
  const double mine = field_dot(solver->grid, field, field, solver->columns);
  double sum;
  MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, solver->grid->comm);
  return sqrt(sum);
}

/* The smallest eigenvalue of A on the whole box, whose eigenvectors are products of sines. */
static double smallest_eigenvalue(const struct grid* grid) {
  double sum = 0;
  for (int d = 0; d < kDimensions; ++d) {
    const double half = sin(acos(-1) / (2 * (grid->cells * grid->boxes[d] + 1.0)));
    sum += 4 * half * half;
  }
  return sum;
}

/* Both methods must reach the tolerance in about the same number of iterations. The difference of
 * their solutions is bounded by the residuals: A (x - y) is the difference of the residuals. */
static void check_solutions(struct solver* solver, double tolerance) {
  struct grid* grid = solver->grid;
  const size_t bytes = grid_volume(grid) * sizeof(double);
  double history[kLimit], *plain = malloc(bytes);
  if (!plain) MPI_Abort(MPI_COMM_WORLD, 1);
  const int expected = solver_run_plain(solver, tolerance, kLimit, history);
  const double plain_residual = solver_true_residual(solver);
  memcpy(plain, solver->x, bytes);
  const int iterations = solver_run_pipelined(solver, tolerance, kLimit, history);
  const double residual = solver_true_residual(solver);
  check(solver, iterations > 0 && abs(iterations - expected) <= 1 + expected / 20, "iterations");
  check(solver, residual <= 2 * tolerance, "true residual");
  field_combine(grid, plain, -1, solver->x, 1);
  const double bound =
      (residual + plain_residual) * norm(solver, solver->b) / smallest_eigenvalue(grid);
  check(solver, norm(solver, plain) <= 1.001 * bound + 1e-13 * norm(solver, solver->x), "solution");
  free(plain);
}

/* The first iterates must be the same up to rounding, and a limit that is too low must be
 * reported. */
static void check_iterates(struct solver* solver) {
  enum { kFew = 3 };
  double plain[kFew], pipelined[kFew];
  check(solver, solver_run_plain(solver, 1e-15, kFew, plain) == -1, "plain limit");
  check(solver, solver_run_pipelined(solver, 1e-15, kFew, pipelined) == -1, "limit");
  for (int i = 0; i < kFew; ++i)
    check(solver, fabs(pipelined[i] - plain[i]) <= 1e-12 * plain[i], "residual of an iteration");
}

static void check_box(int cells) {
  struct grid grid;
  struct solver solver;
  grid_init(&grid, cells);
  solver_init(&solver, &grid);
  solver_random_rhs(&solver, 0);
  check_iterates(&solver);
  check_solutions(&solver, 1e-9);
  solver.tests = 3;
  solver.replacement = 10; /* else r drifts from the true residual before 1e-14 */
  check_iterates(&solver);
  check_solutions(&solver, 1e-14);
  solver_free(&solver);
  grid_free(&grid);
}

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  check_box(3);
  check_box(7);
  if (rank == 0 && failures == 0) printf("passed: %d\n", checks);
  MPI_Finalize();
  return failures != 0;
}
