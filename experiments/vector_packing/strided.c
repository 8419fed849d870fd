/* SPDX-License-Identifier: BSD-3-Clause */
/* strided CALLS BYTES...: times MPI_Bcast, MPI_Alltoall, MPI_Alltoallw, MPI_Neighbor_alltoallw
 * along a line of ranks and a message there and back (MPI_Send, MPI_Recv) of every second double,
 * at sizes of so many packed bytes (of an exchange: all blocks of a rank). Two ranks or more; rank
 * 0 prints a line for each call and size, with the seconds of the slowest rank in each call:
 *   bcast|alltoall|alltoallw|neighbors|message BYTES right|wrong SECONDS...
 * and before and after these lines one with the seconds of a message of 8 bytes there and back:
 *   small 8 right SECONDS
 * The exit status is 0 even if results are wrong; other errors end the job. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { WARM_CALLS = 8 };

struct job {
  int ranks, rank;
  int doubles; /* packed, of a block */
  int blocks;
  MPI_Datatype type; /* a block; blocks adjoin */
  double *in, *out;
  int *counts, *places;
  MPI_Aint far_places[2]; /* of the neighbours' blocks */
  MPI_Datatype* types;
  MPI_Comm line; /* the ranks in their order */
};

static void* allocate(size_t bytes) {
  void* const memory = calloc(bytes ? bytes : 1, 1);
  if (!memory) MPI_Abort(MPI_COMM_WORLD, 1);
  return memory;
}

static size_t room_of(const struct job* job) {
  return 2 * (size_t)job->doubles * (size_t)job->blocks;
}

static struct job make_job(int bytes, int blocks) {
  struct job job = {.doubles = bytes / (int)sizeof(double) / blocks, .blocks = blocks};
  MPI_Datatype thin;
  const int open = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &job.ranks);
  MPI_Cart_create(MPI_COMM_WORLD, 1, &job.ranks, &open, 0, &job.line);
  MPI_Comm_rank(MPI_COMM_WORLD, &job.rank);
  MPI_Type_vector(job.doubles, 1, 2, MPI_DOUBLE, &thin);
  MPI_Type_create_resized(thin, 0, 2 * job.doubles * (MPI_Aint)sizeof(double), &job.type);
  MPI_Type_commit(&job.type);
  MPI_Type_free(&thin);
  job.in = allocate(room_of(&job) * sizeof(double));
  job.out = allocate(room_of(&job) * sizeof(double));
  job.counts = allocate((size_t)job.ranks * sizeof(int));
  job.places = allocate((size_t)job.ranks * sizeof(int));
  job.types = allocate((size_t)job.ranks * sizeof(MPI_Datatype));
  for (int r = 0; r < job.ranks; ++r) {
    job.counts[r] = 1;
    job.places[r] = r * 2 * job.doubles * (int)sizeof(double);
    job.types[r] = job.type;
  }
  job.far_places[1] = job.places[1];
  return job;
}

static void free_job(struct job* job) {
  MPI_Type_free(&job->type);
  MPI_Comm_free(&job->line);
  free(job->in);
  free(job->out);
  free(job->counts);
  free(job->places);
  free(job->types);
}

static double value(size_t i, int rank, int call) { return (double)i + 0.25 * rank + call; }

/* Every double, gaps too, of all that is sent. */
static void fill(const struct job* job, double* data, int call) {
  for (size_t i = 0; i < room_of(job); ++i) data[i] = value(i, job->rank, call);
}

/* True if `data` has at even places what ranks sent, from place `first` of theirs on, and at odd
 * places still `gap`. */
static int has(const double* data, size_t doubles, size_t first, int from, int call, double gap) {
  int right = 1;
  for (size_t i = 0; i < doubles; ++i)
    right &= data[2 * i] == value(first + 2 * i, from, call) && data[2 * i + 1] == gap;
  return right;
}

static void bcast(const struct job* job) {
  MPI_Bcast(job->rank == 0 ? job->in : job->out, 1, job->type, 0, MPI_COMM_WORLD);
}
static void alltoall(const struct job* job) {
  MPI_Alltoall(job->in, 1, job->type, job->out, 1, job->type, MPI_COMM_WORLD);
}
static void alltoallw(const struct job* job) {
  MPI_Alltoallw(job->in, job->counts, job->places, job->types, job->out, job->counts, job->places,
                job->types, MPI_COMM_WORLD);
}
static void neighbors(const struct job* job) {
  MPI_Neighbor_alltoallw(job->in, job->counts, job->far_places, job->types, job->out, job->counts,
                         job->far_places, job->types, job->line);
}
static void message(const struct job* job) {
  if (job->rank == 0) {
    MPI_Send(job->in, 1, job->type, 1, 0, MPI_COMM_WORLD);
    MPI_Recv(job->out, 1, job->type, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else if (job->rank == 1) {
    MPI_Recv(job->out, 1, job->type, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(job->in, 1, job->type, 0, 0, MPI_COMM_WORLD);
  }
}

struct call {
  const char* name;
  void (*make)(const struct job*);
  enum { FROM_ROOT, FROM_ALL, FROM_NEIGHBORS, FROM_PARTNER } from;
};
static const struct call kCalls[] = {{"bcast", bcast, FROM_ROOT},
                                     {"alltoall", alltoall, FROM_ALL},
                                     {"alltoallw", alltoallw, FROM_ALL},
                                     {"neighbors", neighbors, FROM_NEIGHBORS},
                                     {"message", message, FROM_PARTNER}};

static int is_right(const struct job* job, const struct call* call, int number) {
  const size_t doubles = (size_t)job->doubles;
  int right = 1;
  if (call->from == FROM_ROOT && job->rank != 0)
    right = has(job->out, doubles, 0, 0, number, -1);
  else if (call->from == FROM_PARTNER && job->rank < 2)
    right = has(job->out, doubles, 0, 1 - job->rank, number, -1);
  else if (call->from == FROM_ALL)
    for (int r = 0; r < job->ranks; ++r)
      right &= has(job->out + 2 * (size_t)r * doubles, doubles, 2 * (size_t)job->rank * doubles, r,
                   number, -1);
  else if (call->from == FROM_NEIGHBORS)
    for (size_t side = 0; side < 2; ++side) { /* before and after this rank */
      const int from = job->rank + (side == 0 ? -1 : 1);
      if (from >= 0 && from < job->ranks)
        right &=
            has(job->out + 2 * side * doubles, doubles, 2 * (1 - side) * doubles, from, number, -1);
    }
  return right;
}

static void measure(const struct call* call, int bytes, int calls) {
  struct job job;
  MPI_Comm_size(MPI_COMM_WORLD, &job.ranks);
  const int blocks[] = {1, job.ranks, 2, 1};
  job = make_job(bytes, blocks[call->from]);
  double* const seconds = allocate((size_t)calls * sizeof *seconds);
  double* const slowest = allocate((size_t)calls * sizeof *slowest);
  int right = 1, all_right = 0;
  for (size_t i = 0; i < room_of(&job); ++i) job.out[i] = -1;
  for (int i = -WARM_CALLS; i < calls; ++i) {
    fill(&job, job.in, i);
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    call->make(&job);
    if (i >= 0) seconds[i] = MPI_Wtime() - start;
    right &= is_right(&job, call, i);
  }
  MPI_Reduce(seconds, slowest, calls, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  MPI_Reduce(&right, &all_right, 1, MPI_INT, MPI_LAND, 0, MPI_COMM_WORLD);
  if (job.rank == 0) {
    printf("%s %d %s", call->name, bytes, all_right ? "right" : "wrong");
    for (int i = 0; i < calls; ++i) printf(" %.9f", slowest[i]);
    printf("\n");
  }
  free(seconds);
  free(slowest);
  free_job(&job);
}

/* How far the first two ranks' processors are from one another. */
static void measure_distance(void) {
  enum { CALLS = 2000 };
  int rank;
  double word = 0, seconds = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = -WARM_CALLS; i < CALLS && rank < 2; ++i) {
    if (i == 0) seconds = MPI_Wtime();
    if (rank == 0) MPI_Send(&word, 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
    MPI_Recv(&word, 1, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1) MPI_Send(&word, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
  }
  if (rank == 0) printf("small 8 right %.9f\n", (MPI_Wtime() - seconds) / CALLS);
}

int main(int argc, char** argv) {
  int ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int calls = argc > 2 ? atoi(argv[1]) : 0;
  if (calls < 1 || ranks < 2) {
    fputs("strided: wants CALLS BYTES..., and two ranks or more\n", stderr);
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  measure_distance();
  for (size_t c = 0; c < sizeof kCalls / sizeof *kCalls; ++c)
    for (int i = 2; i < argc; ++i) {
      const int bytes = atoi(argv[i]);
      if (bytes < ranks * (int)sizeof(double) || bytes > 1 << 28) MPI_Abort(MPI_COMM_WORLD, 2);
      measure(&kCalls[c], bytes, calls);
    }
  measure_distance();
  MPI_Finalize();
  return 0;
}
