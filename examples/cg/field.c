/* SPDX-License-Identifier: BSD-3-Clause */
#include "field.h"

#include <string.h>

/* Adds each column into a sum of its own: the compiler can compute these independent sums with
 * vectors without changing the order of any of them. */
double field_dot(const struct grid* grid, const double* a, const double* b,
                 double* restrict columns) {
  const int n = grid->cells;
  double sum = 0;
  memset(columns, 0, (size_t)n * sizeof *columns);
  for (int z = 0; z < n; ++z)
    for (int y = 0; y < n; ++y) {
      const size_t row = grid_at(grid, 0, y, z);
      for (int x = 0; x < n; ++x) columns[x] += a[row + (size_t)x] * b[row + (size_t)x];
    }
  for (int x = 0; x < n; ++x) sum += columns[x];
  return sum;
}

void field_combine(const struct grid* grid, double* to, double a, const double* from, double b) {
  const int n = grid->cells;
  for (int z = 0; z < n; ++z)
    for (int y = 0; y < n; ++y) {
      const size_t first = grid_at(grid, 0, y, z);
      for (size_t i = first; i < first + (size_t)n; ++i) to[i] = a * to[i] + b * from[i];
    }
}

void field_laplacian_layers(const struct grid* grid, const double* in, double* out, int first,
                            int last) {
  const int n = grid->cells;
  const size_t row = (size_t)n + 2, plane = row * row;
  for (int z = first; z < last; ++z)
    for (int y = 0; y < n; ++y) {
      const size_t start = grid_at(grid, 0, y, z);
      for (size_t i = start; i < start + (size_t)n; ++i)
        out[i] = 6 * in[i] - in[i - 1] - in[i + 1] - in[i - row] - in[i + row] - in[i - plane] -
                 in[i + plane];
    }
}

void field_laplacian(const struct grid* grid, double* in, double* out) {
  grid_exchange(grid, in);
  field_laplacian_layers(grid, in, out, 0, grid->cells);
}
