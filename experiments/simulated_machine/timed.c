/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls whose time a simulation knows too: from the moment at which all ranks have begun to the
 * last one's end. The ranks share a clock, for they are on one machine. Before each call they write
 * what they send, as programs do.
 *
 * Usage: timed CALL BYTES... Calls: a message from rank 0 to rank 1; two that cross; the MPI's own
 * sum within a rank (fold); collectives. Prints a JSON line for each size: the median, in us. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { kMostCalls = 400, kFewestCalls = 40, kWarmUp = 20, kLine = 64 };
static const double kEnoughUs = 1e6; /* then kFewestCalls are enough */

typedef struct {
  char *out, *in;
  int bytes, count, rank;
} Data;

static double now_us(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static void message(const Data* d) {
  if (d->rank == 0) MPI_Send(d->out, d->bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
  if (d->rank == 1) MPI_Recv(d->in, d->bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void crossing(const Data* d) {
  const int other = 1 - d->rank;
  if (other < 0) return;
  MPI_Sendrecv(d->out, d->bytes, MPI_BYTE, other, 0, d->in, d->bytes, MPI_BYTE, other, 0,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void fold(const Data* d) { MPI_Reduce_local(d->out, d->in, d->count, MPI_DOUBLE, MPI_SUM); }

static void allreduce(const Data* d) {
  MPI_Allreduce(d->out, d->in, d->count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void reduce(const Data* d) {
  MPI_Reduce(d->out, d->in, d->count, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
}

static void bcast(const Data* d) { MPI_Bcast(d->out, d->count, MPI_DOUBLE, 0, MPI_COMM_WORLD); }

typedef void (*Call)(const Data*);
static const struct {
  const char* name;
  Call call;
} kCalls[] = {{"message", message},     {"crossing", crossing}, {"fold", fold},
              {"allreduce", allreduce}, {"reduce", reduce},     {"bcast", bcast}};

static double timed(Call call, const Data* d) {
  double moments[2], latest[2];
  for (int at = 0; at < d->bytes; at += kLine) d->out[at] ^= 1;
  MPI_Barrier(MPI_COMM_WORLD);
  moments[0] = now_us();
  call(d);
  moments[1] = now_us();
  MPI_Allreduce(moments, latest, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return latest[1] - latest[0];
}

static int less(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

static double median_us(Call call, const Data* d) {
  static double us[kMostCalls];
  double sum = 0; /* the same on all ranks */
  int calls = 0;
  for (int i = 0; i < kWarmUp; ++i) timed(call, d);
  while (calls < kMostCalls && (calls < kFewestCalls || sum < kEnoughUs)) {
    us[calls] = timed(call, d);
    sum += us[calls++];
  }
  qsort(us, (size_t)calls, sizeof us[0], less);
  return us[calls / 2];
}

static void measure(Call call, int bytes, int rank) {
  Data d = {calloc((size_t)bytes, 1), calloc((size_t)bytes, 1), bytes, bytes / (int)sizeof(double),
            rank};
  if (!d.out || !d.in) MPI_Abort(MPI_COMM_WORLD, 1);
  const double us = median_us(call, &d);
  if (rank == 0) printf("{\"bytes\": %d, \"us\": %.3f}\n", bytes, us);
  free(d.out);
  free(d.in);
}

int main(int argc, char** argv) {
  int rank, found = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (size_t k = 0; k < sizeof kCalls / sizeof kCalls[0] && argc > 1; ++k) {
    if (strcmp(argv[1], kCalls[k].name) != 0) continue;
    found = 1;
    for (int i = 2; i < argc; ++i) measure(kCalls[k].call, atoi(argv[i]), rank);
  }
  MPI_Finalize();
  return found ? 0 : 2;
}
