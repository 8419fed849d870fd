/* SPDX-License-Identifier: BSD-3-Clause */
/* Conjugate gradients for the 7-point Laplacian with zero boundary values. */
#ifndef CG_SOLVER_H
#define CG_SOLVER_H

#include "grid.h"

struct solver {
  struct grid* grid;
  double *x, *b, *r, *p, *s; /* fields: solution, right-hand side, residual, direction, A p */
  double *w, *q, *z;         /* pipelined method only: A r, A w, A s */
  double* columns;           /* partial sums of a dot product, one for each x */
  int tests;                 /* pipelined: MPI_Test calls during a product */
  int replacement;           /* pipelined: iterations between residual replacements; 0 is never */
  double collective_seconds; /* spent in all-reduces so far: starting, testing and waiting */
  long iterations;           /* done so far */
};

void solver_init(struct solver* solver, struct grid* grid);
void solver_free(struct solver* solver);

/* Fills b with numbers in [-1, 1) that depend only on `seed` and on the cell's place in the whole
 * box, not on how the box is divided. */
void solver_random_rhs(struct solver* solver, unsigned seed);

/* A method solves A x = b from x = 0 until |r| <= tolerance |b|, or for `limit` iterations, where r
 * is the residual of the recurrence. Writes |r| after each iteration to history[0 .. limit).
 * Returns the number of iterations, or -1 if `limit` was too low. */
typedef int solver_method(struct solver* solver, double tolerance, int limit, double* history);
solver_method solver_run_plain, solver_run_pipelined;

/* |b - A x| / |b|, computed anew. Its own all-reduce is not counted. */
double solver_true_residual(struct solver* solver);

#endif
