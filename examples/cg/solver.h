/* SPDX-License-Identifier: BSD-3-Clause */
/* Conjugate gradients for the 7-point Laplacian with zero boundary values. */
#ifndef CG_SOLVER_H
#define CG_SOLVER_H

#include "grid.h"

struct solver {
  struct grid* grid;
  double *x, *b, *r, *p, *ap; /* fields: solution, right-hand side, residual, direction, A p */
  double* columns;            /* partial sums of a dot product, one for each x */
  double collective_seconds;  /* spent in MPI_Allreduce so far */
  long iterations;            /* done so far */
};

void solver_init(struct solver* solver, struct grid* grid);
void solver_free(struct solver* solver);

/* Fills b with numbers in [-1, 1) that depend on the cell's place in the whole box and on `seed`
 * alone, not on how the box is cut. */
void solver_random_rhs(struct solver* solver, unsigned seed);

/* Solves A x = b from x = 0 until |r| <= tolerance |b|, or for `limit` iterations. Writes |r| after
 * each iteration to history[0 .. limit). Returns the iterations, or -1 when they did not suffice.
 */
int solver_run(struct solver* solver, double tolerance, int limit, double* history);

/* |b - A x| / |b|, computed anew. */
double solver_true_residual(struct solver* solver);

#endif
