/* SPDX-License-Identifier: BSD-3-Clause */
/* threaded_operations ELEMENTS CALLS: times MPI_Reduce of ELEMENTS floats (Fortran's REAL) of each
 * rank to rank 0, with each operation in turn. Rank 0 prints how many OpenMP threads a rank has for
 * the threaded operation, and a line for each operation: threads NUMBER
 *   predefined|vectorised|threaded right|wrong SECONDS...
 * With Sumac in front, only the predefined operation is timed. The exit status is 0 even if results
 * are wrong; other errors end the job. */
#include <dlfcn.h>
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sumac/sumac.h"

/* Functions of sumac.h are looked up, because an older Sumac may lack them. */
typedef int (*op_create)(int kind, int flags, MPI_Op* op);
typedef int (*active)(void);

enum { PERIOD = 1021 }; /* sums of values up to this are exact */

struct operation {
  const char* name;
  MPI_Op op;
  int right;
  double* seconds;
};

struct vectors {
  int count;
  float *send, *recv;
};

static void end(const char* what) {
  fprintf(stderr, "threaded_operations: %s\n", what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void* allocate(size_t bytes) {
  void* memory = malloc(bytes);
  if (!memory) end("not enough memory: ask for fewer elements");
  return memory;
}

static float value(int i, int rank) { return (float)(i % PERIOD + rank); }

static struct vectors make_vectors(int count, int rank) {
  struct vectors v = {count, allocate(sizeof(float) * (size_t)count), NULL};
  for (int i = 0; i < count; i++) v.send[i] = value(i, rank);
  if (rank == 0) v.recv = allocate(sizeof(float) * (size_t)count);
  return v;
}

/* The longest time of all ranks in seconds, on rank 0. */
static double timed_reduce(const struct vectors* v, MPI_Op op) {
  double longest = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  double seconds = MPI_Wtime();
  MPI_Reduce(v->send, v->recv, v->count, MPI_FLOAT, op, 0, MPI_COMM_WORLD);
  seconds = MPI_Wtime() - seconds;
  MPI_Reduce(&seconds, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  return longest;
}

/* Checks the result on rank 0; the other ranks have none. */
static int is_right(const struct vectors* v) {
  int ranks;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (!v->recv) return 1;
  for (int i = 0; i < v->count; i++) {
    float sum = 0;
    for (int rank = 0; rank < ranks; rank++) sum += value(i, rank);
    if (v->recv[i] != sum) return 0;
  }
  return 1;
}

static int is_in_front(void) {
  active ask = (active)dlsym(RTLD_DEFAULT, "sumac_active");
  return ask && ask();
}

/* Fills `operations`; returns their number. */
static int make_operations(struct operation* operations) {
  operations[0] = (struct operation){"predefined", MPI_SUM, 0, NULL};
  op_create create = (op_create)dlsym(RTLD_DEFAULT, "sumac_op_create");
  if (is_in_front() || !create) return 1;
  operations[1] = (struct operation){"vectorised", MPI_OP_NULL, 0, NULL};
  operations[2] = (struct operation){"threaded", MPI_OP_NULL, 0, NULL};
  if (create(SUMAC_SUM, 0, &operations[1].op) != MPI_SUCCESS ||
      create(SUMAC_SUM, SUMAC_OP_THREADED, &operations[2].op) != MPI_SUCCESS)
    end("sumac_op_create failed");
  return 3;
}

/* The first call of each operation is checked and not timed. */
static void measure(struct operation* operations, int number, const struct vectors* v, int calls) {
  for (int i = 0; i < number; i++) {
    if (v->recv) memset(v->recv, 0xA5, sizeof(float) * (size_t)v->count);
    timed_reduce(v, operations[i].op);
    operations[i].right = is_right(v);
    operations[i].seconds = allocate(sizeof(double) * (size_t)calls);
  }
  for (int call = 0; call < calls; call++)
    for (int turn = 0; turn < number; turn++) {
      struct operation* o = &operations[call % 2 ? number - 1 - turn : turn];
      o->seconds[call] = timed_reduce(v, o->op);
    }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int count = argc == 3 ? atoi(argv[1]) : 0, calls = argc == 3 ? atoi(argv[2]) : 0;
  if (count < 1 || calls < 1) end("wants ELEMENTS CALLS");
  if (rank == 0) printf("threads %d\n", omp_get_max_threads());
  struct vectors v = make_vectors(count, rank);
  struct operation operations[3];
  const int number = make_operations(operations);
  measure(operations, number, &v, calls);
  for (int i = 0; i < number; i++) {
    if (rank == 0) {
      printf("%s %s", operations[i].name, operations[i].right ? "right" : "wrong");
      for (int call = 0; call < calls; call++) printf(" %.6f", operations[i].seconds[call]);
      printf("\n");
    }
    if (operations[i].op != MPI_SUM) MPI_Op_free(&operations[i].op);
    free(operations[i].seconds);
  }
  free(v.send);
  free(v.recv);
  MPI_Finalize();
  return 0;
}
