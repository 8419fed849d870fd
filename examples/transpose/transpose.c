/* SPDX-License-Identifier: BSD-3-Clause */
/* A plain MPI program: transposes a square matrix of doubles, after the kernel of that name of the
 * Parallel Research Kernels (Van der Wijngaart and Mattson, HPEC 2014). Each rank has a block of
 * adjoining rows. In each phase a rank packs the tile that belongs to another rank in transposed
 * order, by a datatype of nested vectors, and adds the tile that it receives to its result. Prints
 * the time, and how much of it was spent packing. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char kUsage[] =
    "usage: transpose [-n ORDER] [-i TIMES]\n"
    "  -n  rows of the matrix a rank (500)\n"
    "  -i  how often it is transposed (20)\n";

struct matrix {
  int ranks, rank;
  int rows, order;      /* of this rank; of the whole matrix */
  double *in, *out;     /* rows x order */
  double* tile[2];      /* sent and received: rows x rows */
  MPI_Datatype columns; /* the tile of `in` that begins at the address, column by column */
  double packing_seconds;
};

static int parse(int argc, char** argv, int* rows, int* times) {
  int option;
  opterr = 0;
  while ((option = getopt(argc, argv, "n:i:")) != -1) {
    int* const value = option == 'n' ? rows : option == 'i' ? times : NULL;
    char* end;
    if (!value) return 0;
    *value = (int)strtol(optarg, &end, 10);
    if (*end || end == optarg || *value < 1 || *value > 20000) return 0;
  }
  return optind == argc;
}

/* The tile's columns, each as long as a column of the tile, one beside the other. */
static MPI_Datatype make_columns(int rows, int order) {
  MPI_Datatype column, beside, columns;
  MPI_Type_vector(rows, 1, order, MPI_DOUBLE, &column);
  MPI_Type_create_resized(column, 0, sizeof(double), &beside);
  MPI_Type_contiguous(rows, beside, &columns);
  MPI_Type_commit(&columns);
  MPI_Type_free(&column);
  MPI_Type_free(&beside);
  return columns;
}

static double value(const struct matrix* m, int row, int column) {
  return (double)m->order * row + column;
}

static void matrix_init(struct matrix* m, int rows) {
  *m = (struct matrix){.rows = rows};
  MPI_Comm_size(MPI_COMM_WORLD, &m->ranks);
  MPI_Comm_rank(MPI_COMM_WORLD, &m->rank);
  m->order = rows * m->ranks;
  m->columns = make_columns(rows, m->order);
  const size_t volume = (size_t)rows * m->order, tile = (size_t)rows * rows;
  m->in = calloc(volume, sizeof *m->in);
  m->out = calloc(volume, sizeof *m->out);
  for (int i = 0; i < 2; ++i) m->tile[i] = calloc(tile, sizeof **m->tile);
  if (!m->in || !m->out || !m->tile[0] || !m->tile[1]) MPI_Abort(MPI_COMM_WORLD, 1);
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < m->order; ++j)
      m->in[(size_t)i * m->order + j] = value(m, m->rank * rows + i, j);
}

static void matrix_free(struct matrix* m) {
  free(m->in);
  free(m->out);
  for (int i = 0; i < 2; ++i) free(m->tile[i]);
  MPI_Type_free(&m->columns);
}

static void add_tile(struct matrix* m, int from) {
  for (int i = 0; i < m->rows; ++i) {
    double* const out = m->out + (size_t)i * m->order + (size_t)from * m->rows;
    const double* const in = m->tile[1] + (size_t)i * m->rows;
    for (int j = 0; j < m->rows; ++j) out[j] += in[j];
  }
}

/* Adds the transposed matrix to `out`, and 1 to `in`. */
static void transpose(struct matrix* m) {
  const int count = m->rows * m->rows, bytes = count * (int)sizeof(double);
  for (int phase = 0; phase < m->ranks; ++phase) {
    const int to = (m->rank + phase) % m->ranks, from = (m->rank - phase + m->ranks) % m->ranks;
    int position = 0;
    const double start = MPI_Wtime();
    MPI_Pack(m->in + (size_t)to * m->rows, 1, m->columns, m->tile[0], bytes, &position,
             MPI_COMM_WORLD);
    m->packing_seconds += MPI_Wtime() - start;
    MPI_Sendrecv(m->tile[0], count, MPI_DOUBLE, to, 0, m->tile[1], count, MPI_DOUBLE, from, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    add_tile(m, from);
  }
  for (size_t i = 0; i < (size_t)m->rows * m->order; ++i) m->in[i] += 1;
}

/* The greatest difference from the expected result, over all ranks. */
static double matrix_error(const struct matrix* m, int times) {
  double error = 0, greatest = 0;
  for (int i = 0; i < m->rows; ++i)
    for (int j = 0; j < m->order; ++j) {
      const double first = value(m, j, m->rank * m->rows + i);
      const double expected = times * first + times * (times - 1) / 2.0;
      error = fmax(error, fabs(m->out[(size_t)i * m->order + j] - expected));
    }
  MPI_Allreduce(&error, &greatest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return greatest;
}

static int run(int rows, int times) {
  struct matrix m;
  matrix_init(&m, rows);
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  for (int i = 0; i < times; ++i) transpose(&m);
  double seconds[2] = {MPI_Wtime() - start, m.packing_seconds}, slowest[2] = {0, 0};
  MPI_Reduce(seconds, slowest, 2, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  const double error = matrix_error(&m, times);
  if (m.rank == 0) {
    printf("ranks       %d\n", m.ranks);
    printf("order       %d, transposed %d times\n", m.order, times);
    printf("seconds     %.6f\n", slowest[0]);
    printf("packing     %.6f\n", slowest[1]);
    printf("error       %.1e\n", error);
  }
  matrix_free(&m);
  return !(error < 1e-8 * times * m.order * m.order); /* written so that a NaN is an error */
}

int main(int argc, char** argv) {
  int rank, status = 2, rows = 500, times = 20;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (parse(argc, argv, &rows, &times))
    status = run(rows, times);
  else if (rank == 0)
    fputs(kUsage, stderr);
  MPI_Finalize();
  return status;
}
