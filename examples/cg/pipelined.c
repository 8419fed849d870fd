/* SPDX-License-Identifier: BSD-3-Clause */
/* Pipelined conjugate gradients: P. Ghysels, W. Vanroose, "Hiding global synchronization latency in
 * the preconditioned Conjugate Gradient algorithm", Parallel Computing 40(7), 2014,
 * doi:10.1016/j.parco.2013.06.001; here without a preconditioner.
 *
 * Idea: w = A r, s = A p and z = A s follow recurrences of their own, so that (r, r) and (w, r) are
 * known together, and the next product, q = A w, does not need them: they are summed over the ranks
 * while it is formed. In exact arithmetic the iterates are those of the plain method.
 * An iteration: one product, one nonblocking all-reduce of two numbers instead of two blocking ones
 * of one, six vector recurrences instead of three, three more fields. A solve takes two products
 * more than the plain method's: the first w, and the one before whose end |r| is not known.
 * Wins where an all-reduce takes long beside the product and the MPI advances it meanwhile: many
 * ranks, few cells each. Most MPIs advance it only inside calls: waiting for the ghosts is one,
 * solver->tests asks for more.
 * Rounding errors: those of the recurrences add up faster than the plain method's, and r drifts
 * away from b - A x, which bounds the accuracy that can be reached. Residual replacement computes
 * r, w, s and z anew every so many iterations, for four products. */
#include <math.h>
#include <string.h>

#include "field.h"
#include "solver.h"

/* The sums (r, r) and (w, r), while they are reduced over all ranks. */
struct sums {
  double mine[2], all[2];
  MPI_Request request;
};

static void start_sums(struct solver* solver, struct sums* sums) {
  const struct grid* grid = solver->grid;
  sums->mine[0] = field_dot(grid, solver->r, solver->r, solver->columns);
  sums->mine[1] = field_dot(grid, solver->w, solver->r, solver->columns);
  const double start = MPI_Wtime();
  MPI_Iallreduce(sums->mine, sums->all, 2, MPI_DOUBLE, MPI_SUM, grid->comm, &sums->request);
  solver->collective_seconds += MPI_Wtime() - start;
}

/* Calls MPI_Test only so that the MPI advances the sums. */
static void test_sums(struct solver* solver, struct sums* sums) {
  int arrived;
  const double start = MPI_Wtime();
  MPI_Test(&sums->request, &arrived, MPI_STATUS_IGNORE);
  solver->collective_seconds += MPI_Wtime() - start;
}

static void wait_for_sums(struct solver* solver, struct sums* sums) {
  const double start = MPI_Wtime();
  MPI_Wait(&sums->request, MPI_STATUS_IGNORE);
  solver->collective_seconds += MPI_Wtime() - start;
}

/* q = A w, testing the sums between parts of the layers. */
static void multiply(struct solver* solver, struct sums* sums) {
  const struct grid* grid = solver->grid;
  const int n = grid->cells, parts = solver->tests + 1;
  grid_exchange(grid, solver->w);
  for (int part = 0; part < parts; ++part) {
    if (part > 0) test_sums(solver, sums);
    field_laplacian_layers(grid, solver->w, solver->q, n * part / parts, n * (part + 1) / parts);
  }
}

/* All recurrences, in one pass over the fields. */
static void advance(const struct solver* solver, double alpha, double beta) {
  const int n = solver->grid->cells;
  const double* restrict q = solver->q;
  double* restrict x = solver->x, * restrict r = solver->r, * restrict w = solver->w;
  double* restrict p = solver->p, * restrict s = solver->s, * restrict z = solver->z;
  for (int layer = 0; layer < n; ++layer)
    for (int y = 0; y < n; ++y) {
      const size_t first = grid_at(solver->grid, 0, y, layer);
      for (size_t i = first; i < first + (size_t)n; ++i) {
        z[i] = q[i] + beta * z[i];
        s[i] = w[i] + beta * s[i];
        p[i] = r[i] + beta * p[i];
        x[i] += alpha * p[i];
        r[i] -= alpha * s[i];
        w[i] -= alpha * z[i];
      }
    }
}

/* Computes r, w, s and z anew from x and p. */
static void replace_residual(struct solver* solver) {
  const struct grid* grid = solver->grid;
  field_laplacian(grid, solver->x, solver->r);
  field_combine(grid, solver->r, -1, solver->b, 1);
  field_laplacian(grid, solver->r, solver->w);
  field_laplacian(grid, solver->p, solver->s);
  field_laplacian(grid, solver->s, solver->z);
}

/* x = 0, r = b, w = A r; all directions are 0. */
static void begin(struct solver* solver) {
  const size_t bytes = grid_volume(solver->grid) * sizeof(double);
  double* const none[] = {solver->x, solver->p, solver->s, solver->z};
  for (size_t i = 0; i < sizeof none / sizeof *none; ++i) memset(none[i], 0, bytes);
  memcpy(solver->r, solver->b, bytes);
  field_laplacian(solver->grid, solver->r, solver->w);
}

int solver_run_pipelined(struct solver* solver, double tolerance, int limit, double* history) {
  const int period = solver->replacement;
  double goal = 0, alpha = 1, last_square = INFINITY; /* makes the first beta 0 */
  begin(solver);
  for (int i = 0;; ++i) {
    struct sums sums;
    start_sums(solver, &sums);
    multiply(solver, &sums);
    wait_for_sums(solver, &sums);
    const double square = sums.all[0], beta = square / last_square;
    if (i == 0) goal = tolerance * sqrt(square);
    if (i > 0) {
      history[i - 1] = sqrt(square);
      ++solver->iterations;
      if (history[i - 1] <= goal) return i;
      if (i == limit) return -1;
    }
    alpha = square / (sums.all[1] - beta * square / alpha);
    advance(solver, alpha, beta);
    if (period > 0 && (i + 1) % period == 0) replace_residual(solver);
    last_square = square;
  }
}
