/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations on fields, over the cells of this rank. */
#ifndef CG_FIELD_H
#define CG_FIELD_H

#include "grid.h"

/* The sum of a b over this rank's cells. `columns` has room for one number
 * per cell of a row. The order of additions depends only on the number of cells. */
double field_dot(const struct grid* grid, const double* a, const double* b, double* columns);

/* to = a to + b from. */
void field_combine(const struct grid* grid, double* to, double a, const double* from, double b);

/* Computes layers z = first .. last - 1 of out = A in. A is the 7-point Laplacian: six times the
 * cell minus its six neighbours. Reads the ghosts of `in`. */
void field_laplacian_layers(const struct grid* grid, const double* in, double* out, int first,
                            int last);

/* Computes all of out = A in. Fills the ghosts of `in`. */
void field_laplacian(const struct grid* grid, double* in, double* out);

#endif
