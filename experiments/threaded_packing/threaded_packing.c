/* SPDX-License-Identifier: BSD-3-Clause */
/* threaded_packing BYTES CALLS: MPI_Pack and MPI_Unpack of several datatypes by a program with
 * OpenMP threads, some of which pack while others compute or wait at a barrier; and a matrix
 * transposed in such a region. Prints how many threads there are, and a line for each case, with
 * the seconds of each timed call: threads NUMBER LAYOUT pack|unpack|transpose SITUATION right|wrong
 * SECONDS... The exit status is 0 even if results are wrong; other errors end the job. */
#include <mpi.h>
#include <omp.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layouts.h"

enum { WARM_CALLS = 2 };

/* What the threads of a region do. */
struct situation {
  const char* name;
  int in_region; /* else there is one thread */
  int packing;   /* threads that pack, each data of its own; 0: all */
  int computing; /* 0: none, 1: all others, 2: every second one of the others */
};

static const struct situation kSituations[] = {
    {"alone", 0, 1, 0},     {"idle", 1, 1, 0},    {"half", 1, 1, 2},
    {"computing", 1, 1, 1}, {"packing", 1, 0, 0},
};

/* A thread's data. */
struct data {
  double *elements, *packed;
};

struct job {
  const struct layout* layout;
  int unpacks;
  int threads;
  struct data* data; /* of each thread */
};

static void call(const struct job* job, const struct data* data) {
  const int bytes = (int)(job->layout->doubles * sizeof(double));
  int position = 0;
  if (job->unpacks)
    MPI_Unpack(data->packed, bytes, &position, data->elements, 1, job->layout->type, MPI_COMM_SELF);
  else
    MPI_Pack(data->elements, 1, job->layout->type, data->packed, bytes, &position, MPI_COMM_SELF);
}

/* Arithmetic that needs no memory, until no thread packs any more. */
static void compute(const atomic_int* packing) {
  volatile double result = 0;
  double x = 1;
  while (atomic_load_explicit(packing, memory_order_relaxed) > 0)
    for (int i = 0; i < 1000; ++i) x = x * 1.000001 + 1e-9;
  result = x;
  (void)result;
}

/* Seconds from when all threads are there until the last call is over. */
static double timed(const struct job* job, const struct situation* situation) {
  const int threads = situation->in_region ? job->threads : 1;
  const int packers = situation->packing ? situation->packing : threads;
  atomic_int packing = packers;
  double start = 0, end = 0;
#pragma omp parallel num_threads(threads) if (threads > 1)
  {
    const int thread = omp_get_thread_num();
#pragma omp barrier
#pragma omp master
    start = omp_get_wtime();
    if (thread < packers) {
      call(job, &job->data[thread]);
      const double now = omp_get_wtime();
#pragma omp critical
      end = now > end ? now : end;
      atomic_fetch_sub(&packing, 1);
    } else if (situation->computing == 1 || (situation->computing == 2 && thread % 2 == 1)) {
      compute(&packing);
    }
  } /* the others wait here */
  return end - start;
}

static double value(size_t place, int thread) { return (double)(place + 1) + 0.5 * thread; }

/* What a call is to read, and nothing where it is to write. */
static void fill(const struct job* job) {
  const struct layout* const layout = job->layout;
  for (int t = 0; t < job->threads; ++t) {
    const struct data* const data = &job->data[t];
    for (size_t i = 0; i < layout->room; ++i) data->elements[i] = job->unpacks ? 0 : value(i, t);
    for (size_t k = 0; k < layout->doubles; ++k)
      data->packed[k] = job->unpacks ? value(layout->places[k], t) : 0;
  }
}

/* Packed doubles in their places, and after unpacking nothing in the gaps. */
static int is_right(const struct job* job, int packers) {
  const struct layout* const layout = job->layout;
  int right = 1;
  for (int t = 0; t < packers; ++t) {
    const struct data* const data = &job->data[t];
    double sum = 0, expected = 0;
    for (size_t k = 0; k < layout->doubles; ++k) {
      const double there = value(layout->places[k], t);
      right &= data->packed[k] == there && data->elements[layout->places[k]] == there;
      expected += there;
    }
    for (size_t i = 0; i < layout->room; ++i) sum += data->elements[i];
    if (job->unpacks) right &= sum == expected;
  }
  return right;
}

static void report(const char* layout, const char* what, const char* situation, int right,
                   const double* seconds, int calls) {
  printf("%s %s %s %s", layout, what, situation, right ? "right" : "wrong");
  for (int i = 0; i < calls; ++i) printf(" %.9f", seconds[i]);
  printf("\n");
  fflush(stdout);
}

/* The first calls are not timed: of a new type they are the MPI's, with Sumac too. */
static void measure(struct job* job, const char* name, const struct situation* situation, int calls,
                    double* seconds) {
  const int packers = situation->packing ? situation->packing : job->threads;
  fill(job);
  for (int i = -WARM_CALLS; i < calls; ++i) {
    const double taken = timed(job, situation);
    if (i >= 0) seconds[i] = taken;
  }
  report(name, job->unpacks ? "unpack" : "pack", situation->name, is_right(job, packers), seconds,
         calls);
}

static void measure_layout(const struct layout_kind* kind, size_t doubles, int threads,
                           int may_pack_all, int calls, double* seconds) {
  struct layout layout;
  kind->make(&layout, doubles);
  MPI_Type_commit(&layout.type);
  struct data* const data = allocate((size_t)threads * sizeof *data);
  struct job job = {&layout, 0, threads, data};
  for (int t = 0; t < threads; ++t) {
    data[t].elements = allocate(layout.room * sizeof(double));
    data[t].packed = allocate(layout.doubles * sizeof(double));
  }
  for (job.unpacks = 0; job.unpacks < 2; ++job.unpacks)
    for (size_t s = 0; s < sizeof kSituations / sizeof *kSituations; ++s) {
      const struct situation* const situation = &kSituations[s];
      if (!situation->packing && !may_pack_all) continue;
      if (situation->computing == 2 && threads < 3) continue;
      if (situation->in_region && threads < 2) continue;
      measure(&job, kind->name, situation, calls, seconds);
    }
  for (int t = 0; t < threads; ++t) {
    free(data[t].elements);
    free(data[t].packed);
  }
  free(data);
  layout_free(&layout);
}

/* Adds the transposed matrix to `out`: one thread packs, all add. */
static double timed_transpose(const struct layout* layout, const struct data* data, double* out,
                              int threads) {
  const int bytes = (int)(layout->doubles * sizeof(double));
  const double start = omp_get_wtime();
#pragma omp parallel num_threads(threads)
  {
#pragma omp master
    {
      int position = 0;
      MPI_Pack(data->elements, 1, layout->type, data->packed, bytes, &position, MPI_COMM_SELF);
    }
#pragma omp barrier
#pragma omp for
    for (size_t k = 0; k < layout->doubles; ++k) out[k] += data->packed[k];
  }
  return omp_get_wtime() - start;
}

static void measure_transpose(size_t doubles, int threads, int calls, double* seconds) {
  struct layout layout;
  make_transpose(&layout, doubles);
  MPI_Type_commit(&layout.type);
  const struct data data = {allocate(layout.room * sizeof(double)),
                            allocate(layout.doubles * sizeof(double))};
  double* const out = allocate(layout.doubles * sizeof(double));
  int right = 1;
  for (size_t i = 0; i < layout.room; ++i) data.elements[i] = value(i, 0);
  for (int i = -WARM_CALLS; i < calls; ++i) {
    const double taken = timed_transpose(&layout, &data, out, threads);
    if (i >= 0) seconds[i] = taken;
  }
  for (size_t k = 0; k < layout.doubles; ++k)
    right &= out[k] == (calls + WARM_CALLS) * value(layout.places[k], 0);
  report("matrix", "transpose", threads > 1 ? "idle" : "alone", right, seconds, calls);
  free(data.elements);
  free(data.packed);
  free(out);
  layout_free(&layout);
}

int main(int argc, char** argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  const long bytes = argc == 3 ? atol(argv[1]) : 0, calls = argc == 3 ? atol(argv[2]) : 0;
  if (bytes < (long)sizeof(double) || bytes > (1L << 30) || calls < 1 || calls > 100000) {
    fputs("threaded_packing: wants BYTES CALLS: 8 to 2^30 bytes, 1 to 100000 calls\n", stderr);
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  const size_t doubles = (size_t)bytes / sizeof(double);
  const int threads = omp_get_max_threads();
  double* const seconds = allocate((size_t)calls * sizeof *seconds);
  printf("threads %d\n", threads);
  for (int i = 0; i < kLayoutCount; ++i)
    measure_layout(&kLayouts[i], doubles, threads, provided >= MPI_THREAD_MULTIPLE, (int)calls,
                   seconds);
  measure_transpose(doubles, 1, (int)calls, seconds);
  if (threads > 1) measure_transpose(doubles, threads, (int)calls, seconds);
  free(seconds);
  MPI_Finalize();
  return 0;
}
