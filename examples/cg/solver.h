/* SPDX-License-Identifier: BSD-3-Clause */
/* Conjugate gradients for the 7-point Laplacian with zero boundary values. */
#ifndef CG_SOLVER_H
#define CG_SOLVER_H

#include "grid.h"

struct solver {
  struct grid* grid;
  double *x, *b, *r, *p, *s; /* fields: solution, right-hand side, residual, direction, A p */
  double *w, *q, *z;         /* of the pipelined method: A r, A w, A s */
  double* columns;           /* partial sums of a dot product, one for each x */
  int tests;                 /* pipelined: looks for the sums' arrival during a product */
  int replacement;           /* pipelined: iterations between residual replacements; 0 is never */
  double collective_seconds; /* spent in all-reduces so far: starting, testing and waiting */
  long iterations;           /* done so far */
};

void solver_init(struct solver* solver, struct grid* grid);
void solver_free(struct solver* solver);

/* Fills b with numbers in [-1, 1) that depend on the cell's place in the whole box and on `seed`
 * alone, not on how the box is cut. */
void solver_random_rhs(struct solver* solver, unsigned seed);

/* A method solves A x = b from x = 0 until |r| <= tolerance |b|, or for `limit` iterations, r being
 * the residual that it carries along. Writes |r| after each iteration to history[0 .. limit).
 * Returns the iterations, or -1 when they did not suffice. */
typedef int solver_method(struct solver* solver, double tolerance, int limit, double* history);
solver_method solver_run_plain, solver_run_pipelined;

/* |b - A x| / |b|, computed anew. Its own all-reduce is not counted. */
double solver_true_residual(struct solver* solver);

#endif
