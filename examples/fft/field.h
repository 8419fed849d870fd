/* SPDX-License-Identifier: BSD-3-Clause */
/* A square field of complex numbers, of which each rank has adjoining rows, and its 2-D Fourier
 * transform. */
#pragma once

#include <complex.h>
#include <fftw3.h>
#include <mpi.h>

struct field {
  int ranks, rank;
  int order;              /* rows and columns of the whole */
  int first, rows;        /* this rank's */
  fftw_complex *in, *out; /* rows x order */
  fftw_plan rows_of_in, rows_of_out;
  int* counts; /* of MPI_Alltoallw */
  int *sent_at, *received_at;
  MPI_Datatype *sent, *received; /* what a rank is sent of `in`, and where its part is in `out` */
  double transpose_seconds;
};

/* Collective. Ends the job when there is no memory. */
void field_init(struct field* field, int order);
void field_free(struct field* field);

/* Makes `in` a sum of waves. */
void field_fill(struct field* field);

/* Transforms `in`, which is overwritten. The result is in `out`, transposed: a rank's rows of `out`
 * are columns of the transform. */
void field_transform(struct field* field);

/* The greatest difference between `out` and the transform of field_fill()'s sum, over all ranks, as
 * a part of the largest value. */
double field_error(const struct field* field);
