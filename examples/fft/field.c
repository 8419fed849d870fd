/* SPDX-License-Identifier: BSD-3-Clause */
#include "field.h"

#include <math.h>
#include <stdlib.h>

enum { WAVES = 4 };

/* exp(2 pi i (down * row + along * column) / order) times `amplitude`. */
struct wave {
  int down, along;
  double complex amplitude;
};

static int first_row(const struct field* field, int rank) {
  return (int)((long)field->order * rank / field->ranks);
}

static int rows_of(const struct field* field, int rank) {
  return first_row(field, rank + 1) - first_row(field, rank);
}

/* The waves' frequencies are different from one another when the order is at least 8. */
static void get_waves(int order, struct wave* waves) {
  waves[0] = (struct wave){0, 0, 0.5};
  waves[1] = (struct wave){1, 2, 1.0 + 2.0 * I};
  waves[2] = (struct wave){order - 3, 1, -1.5 * I};
  waves[3] = (struct wave){order / 2, order - 1, 0.75 - 0.25 * I};
}

/* Of this rank's rows of `in`, the other's columns, one after another. */
static MPI_Datatype make_sent(const struct field* field, int columns) {
  MPI_Datatype column, beside, all;
  MPI_Type_vector(field->rows, 1, field->order, MPI_C_DOUBLE_COMPLEX, &column);
  MPI_Type_create_resized(column, 0, sizeof(fftw_complex), &beside);
  MPI_Type_contiguous(columns, beside, &all);
  MPI_Type_commit(&all);
  MPI_Type_free(&column);
  MPI_Type_free(&beside);
  return all;
}

/* In this rank's rows of `out`, the columns that are the other's rows of `in`. */
static MPI_Datatype make_received(const struct field* field, int columns) {
  MPI_Datatype tile;
  MPI_Type_vector(field->rows, columns, field->order, MPI_C_DOUBLE_COMPLEX, &tile);
  MPI_Type_commit(&tile);
  return tile;
}

static void* allocate(size_t bytes) {
  void* const memory = malloc(bytes);
  if (!memory) MPI_Abort(MPI_COMM_WORLD, 1);
  return memory;
}

static void make_exchange(struct field* field) {
  const size_t ranks = (size_t)field->ranks;
  field->counts = allocate(ranks * sizeof *field->counts);
  field->sent_at = allocate(ranks * sizeof *field->sent_at);
  field->received_at = allocate(ranks * sizeof *field->received_at);
  field->sent = allocate(ranks * sizeof *field->sent);
  field->received = allocate(ranks * sizeof *field->received);
  for (int r = 0; r < field->ranks; ++r) {
    const int columns = rows_of(field, r);
    field->counts[r] = field->rows > 0 && columns > 0;
    field->sent_at[r] = field->received_at[r] = first_row(field, r) * (int)sizeof(fftw_complex);
    field->sent[r] = make_sent(field, columns);
    field->received[r] = make_received(field, columns);
  }
}

static fftw_plan plan_rows(const struct field* field, fftw_complex* data) {
  const int order = field->order;
  return fftw_plan_many_dft(1, &order, field->rows, data, NULL, 1, order, data, NULL, 1, order,
                            FFTW_FORWARD, FFTW_ESTIMATE);
}

void field_init(struct field* field, int order) {
  *field = (struct field){.order = order};
  MPI_Comm_size(MPI_COMM_WORLD, &field->ranks);
  MPI_Comm_rank(MPI_COMM_WORLD, &field->rank);
  field->first = first_row(field, field->rank);
  field->rows = rows_of(field, field->rank);
  const size_t volume = (size_t)field->rows * (size_t)order;
  field->in = fftw_alloc_complex(volume);
  field->out = fftw_alloc_complex(volume);
  if (!field->in || !field->out) MPI_Abort(MPI_COMM_WORLD, 1);
  field->rows_of_in = plan_rows(field, field->in);
  field->rows_of_out = plan_rows(field, field->out);
  make_exchange(field);
}

void field_free(struct field* field) {
  fftw_destroy_plan(field->rows_of_in);
  fftw_destroy_plan(field->rows_of_out);
  fftw_free(field->in);
  fftw_free(field->out);
  for (int r = 0; r < field->ranks; ++r) {
    MPI_Type_free(&field->sent[r]);
    MPI_Type_free(&field->received[r]);
  }
  free(field->counts);
  free(field->sent_at);
  free(field->received_at);
  free(field->sent);
  free(field->received);
}

/* Products are taken modulo the order first: the sine of a large angle is less exact. */
static double complex value(const struct wave* wave, int order, int row, int column) {
  const long turns = ((long)wave->down * row + (long)wave->along * column) % order;
  return wave->amplitude * cexp(2 * acos(-1) * I * ((double)turns / order));
}

void field_fill(struct field* field) {
  struct wave waves[WAVES];
  get_waves(field->order, waves);
  for (int i = 0; i < field->rows; ++i)
    for (int j = 0; j < field->order; ++j) {
      double complex sum = 0;
      for (int k = 0; k < WAVES; ++k) sum += value(&waves[k], field->order, field->first + i, j);
      field->in[(size_t)i * (size_t)field->order + (size_t)j] = sum;
    }
}

void field_transform(struct field* field) {
  fftw_execute(field->rows_of_in);
  const double start = MPI_Wtime();
  MPI_Alltoallw(field->in, field->counts, field->sent_at, field->sent, field->out, field->counts,
                field->received_at, field->received, MPI_COMM_WORLD);
  field->transpose_seconds += MPI_Wtime() - start;
  fftw_execute(field->rows_of_out);
}

double field_error(const struct field* field) {
  struct wave waves[WAVES];
  const double cells = (double)field->order * field->order;
  double error = 0, greatest = 0;
  get_waves(field->order, waves);
  for (int i = 0; i < field->rows; ++i)
    for (int j = 0; j < field->order; ++j) {
      double complex expected = 0;
      for (int k = 0; k < WAVES; ++k)
        if (waves[k].along == field->first + i && waves[k].down == j)
          expected = cells * waves[k].amplitude;
      const double complex found = field->out[(size_t)i * (size_t)field->order + (size_t)j];
      const double off = cabs(found - expected) / (cells * cabs(waves[1].amplitude));
      if (!(off <= error)) error = off; /* a NaN too */
    }
  MPI_Allreduce(&error, &greatest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return greatest;
}
