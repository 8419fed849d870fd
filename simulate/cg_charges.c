/* SPDX-License-Identifier: BSD-3-Clause */
/* What examples/cg computes takes simulated time: the linker gives its calls of these functions to
 * those here. Bytes that a loop must move count as bytes that a core folds. The updates of the
 * pipelined method, which are within its file, cost nothing. */
#include <smpi/smpi.h>

#include "grid.h"

static void charge(const struct grid* grid, int layers, int vectors) {
  const double cells = (double)grid->cells * grid->cells * layers;
  smpi_execute_flops(cells * vectors * (double)sizeof(double));
}

double __real_field_dot(const struct grid* grid, const double* a, const double* b, double* columns);
double __wrap_field_dot(const struct grid* grid, const double* a, const double* b,
                        double* columns) {
  charge(grid, grid->cells, 2);
  return __real_field_dot(grid, a, b, columns);
}

void __real_field_combine(const struct grid* grid, double* to, double a, const double* from,
                          double b);
void __wrap_field_combine(const struct grid* grid, double* to, double a, const double* from,
                          double b) {
  charge(grid, grid->cells, 3);
  __real_field_combine(grid, to, a, from, b);
}

void __real_field_laplacian_layers(const struct grid* grid, const double* in, double* out,
                                   int first, int last);
void __wrap_field_laplacian_layers(const struct grid* grid, const double* in, double* out,
                                   int first, int last) {
  charge(grid, last - first, 2);
  __real_field_laplacian_layers(grid, in, out, first, last);
}

void __real_field_laplacian(const struct grid* grid, double* in, double* out);
void __wrap_field_laplacian(const struct grid* grid, double* in, double* out) {
  charge(grid, grid->cells, 2);
  __real_field_laplacian(grid, in, out);
}
