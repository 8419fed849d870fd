// SPDX-License-Identifier: BSD-3-Clause
// Makes each call that Sumac intercepts a fixed number of times, as far as the MPI has it. Prints
// the path of an all-reduce, and whether the results were right.
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif

enum { kMost = 16, kRounds = 20 };
static MPI_Comm comm;
static int rank, ranks, wrong;
static int a[4 * kMost], b[4 * kMost], ones[kMost], places[kMost], bytes[kMost];
static MPI_Datatype types[kMost];
static MPI_Request q;

#define DO(...)                                \
  do {                                         \
    if ((__VA_ARGS__) != MPI_SUCCESS) ++wrong; \
  } while (0)
#define WAIT DO(MPI_Wait(&q, MPI_STATUS_IGNORE))
#define RUN          \
  DO(MPI_Start(&q)); \
  WAIT;              \
  DO(MPI_Request_free(&q))

#if MPI_VERSION >= 4
#define INIT(name) MPI_##name##_init
#else
#define INIT(name) MPIX_##name##_init
#endif

// Blocking, nonblocking, and persistent.
#define FORMS(name, small, ...)                         \
  DO(MPI_##name(__VA_ARGS__, comm));                    \
  DO(MPI_I##small(__VA_ARGS__, comm, &q));              \
  WAIT;                                                 \
  DO(INIT(name)(__VA_ARGS__, comm, MPI_INFO_NULL, &q)); \
  RUN

static void plain_collectives(void) {
  DO(MPI_Barrier(comm));
  DO(MPI_Ibarrier(comm, &q));
  WAIT;
  DO(INIT(Barrier)(comm, MPI_INFO_NULL, &q));
  RUN;
  FORMS(Allreduce, allreduce, a, b, 3, MPI_INT, MPI_SUM);
  FORMS(Reduce, reduce, a, b, 3, MPI_INT, MPI_SUM, 0);
  FORMS(Bcast, bcast, b, 3, MPI_INT, 0);
  FORMS(Reduce_scatter_block, reduce_scatter_block, a, b, 1, MPI_INT, MPI_SUM);
  FORMS(Reduce_scatter, reduce_scatter, a, b, ones, MPI_INT, MPI_SUM);
  FORMS(Allgather, allgather, a, 1, MPI_INT, b, 1, MPI_INT);
  FORMS(Allgatherv, allgatherv, a, 1, MPI_INT, b, ones, places, MPI_INT);
  FORMS(Alltoall, alltoall, a, 1, MPI_INT, b, 1, MPI_INT);
  FORMS(Alltoallv, alltoallv, a, ones, places, MPI_INT, b, ones, places, MPI_INT);
  FORMS(Alltoallw, alltoallw, a, ones, bytes, types, b, ones, bytes, types);
  DO(MPI_Reduce_local(a, b, 3, MPI_INT, MPI_SUM));
  DO(MPI_Gather(a, 1, MPI_INT, b, 1, MPI_INT, 0, comm));
}

#if MPI_VERSION >= 4
static MPI_Count large_ones[kMost];
static MPI_Aint large_places[kMost], large_bytes[kMost];

#define LARGE(name, small, ...)                                  \
  DO(MPI_##name##_c(__VA_ARGS__, comm));                         \
  DO(MPI_I##small##_c(__VA_ARGS__, comm, &q));                   \
  WAIT;                                                          \
  DO(MPI_##name##_init_c(__VA_ARGS__, comm, MPI_INFO_NULL, &q)); \
  RUN

static void large_collectives(void) {
  for (int i = 0; i < kMost; ++i) {
    large_ones[i] = 1;
    large_places[i] = i;
    large_bytes[i] = i * (MPI_Aint)sizeof(int);
  }
  LARGE(Allreduce, allreduce, a, b, 3, MPI_INT, MPI_SUM);
  LARGE(Reduce, reduce, a, b, 3, MPI_INT, MPI_SUM, 0);
  LARGE(Bcast, bcast, b, 3, MPI_INT, 0);
  LARGE(Reduce_scatter_block, reduce_scatter_block, a, b, 1, MPI_INT, MPI_SUM);
  LARGE(Reduce_scatter, reduce_scatter, a, b, large_ones, MPI_INT, MPI_SUM);
  LARGE(Allgather, allgather, a, 1, MPI_INT, b, 1, MPI_INT);
  LARGE(Allgatherv, allgatherv, a, 1, MPI_INT, b, large_ones, large_places, MPI_INT);
  LARGE(Alltoall, alltoall, a, 1, MPI_INT, b, 1, MPI_INT);
  LARGE(Alltoallv, alltoallv, a, large_ones, large_places, MPI_INT, b, large_ones, large_places,
        MPI_INT);
  LARGE(Alltoallw, alltoallw, a, large_ones, large_bytes, types, b, large_ones, large_bytes, types);
  DO(MPI_Reduce_local_c(a, b, 3, MPI_INT, MPI_SUM));
  MPI_Count at = 0;
  char packed[64];
  DO(MPI_Pack_c(a, 2, MPI_INT, packed, sizeof packed, &at, comm));
  at = 0;
  DO(MPI_Unpack_c(packed, sizeof packed, &at, b, 2, MPI_INT, comm));
}
#else
static void large_collectives(void) {}
#endif

static void messages(void) {
  const int next = (rank + 1) % ranks, last = (rank + ranks - 1) % ranks;
  MPI_Request two[2];
  MPI_Status statuses[2];
  DO(MPI_Sendrecv(a, 1, MPI_INT, next, 1, b, 1, MPI_INT, last, 1, comm, MPI_STATUS_IGNORE));
  DO(MPI_Irecv(b, 1, MPI_INT, last, 2, comm, &q));
  DO(MPI_Send(a, 1, MPI_INT, next, 2, comm));
  WAIT;
  DO(MPI_Isend(a, 1, MPI_INT, next, 3, comm, &q));
  DO(MPI_Recv(b, 1, MPI_INT, last, 3, comm, MPI_STATUS_IGNORE));
  WAIT;
  DO(MPI_Irecv(b, 1, MPI_INT, last, 4, comm, &q));
  DO(MPI_Cancel(&q));
  WAIT;
  DO(MPI_Recv_init(b, 1, MPI_INT, last, 5, comm, &two[0]));
  DO(MPI_Recv_init(b, 1, MPI_INT, last, 6, comm, &two[1]));
  DO(MPI_Startall(2, two));
  DO(MPI_Send(a, 1, MPI_INT, next, 5, comm));
  DO(MPI_Send(a, 1, MPI_INT, next, 6, comm));
  DO(MPI_Waitall(2, two, statuses));
  for (int i = 0; i < 2; ++i) DO(MPI_Request_free(&two[i]));
  int at = 0;
  char packed[64];
  DO(MPI_Pack(a, 2, MPI_INT, packed, sizeof packed, &at, comm));
  at = 0;
  DO(MPI_Unpack(packed, sizeof packed, &at, b, 2, MPI_INT, comm));
}

static void completion(void) {
  MPI_Request none[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  MPI_Status statuses[2];
  int index, done, indices[2];
  DO(MPI_Waitany(2, none, &index, MPI_STATUS_IGNORE));
  DO(MPI_Waitsome(2, none, &index, indices, statuses));
  DO(MPI_Test(none, &done, MPI_STATUS_IGNORE));
  DO(MPI_Testall(2, none, &done, statuses));
  DO(MPI_Testany(2, none, &index, &done, MPI_STATUS_IGNORE));
  DO(MPI_Testsome(2, none, &index, indices, statuses));
  DO(MPI_Request_get_status(MPI_REQUEST_NULL, &done, MPI_STATUS_IGNORE));
  // The same of requests that end.
  for (int i = 0; i < 2; ++i) DO(MPI_Iallreduce(a, b + 8 * i, 3, MPI_INT, MPI_SUM, comm, &none[i]));
  for (int i = 0; i < 2; ++i) DO(MPI_Waitany(2, none, &index, MPI_STATUS_IGNORE));
  for (int i = 0; i < 2; ++i) DO(MPI_Iallreduce(a, b + 8 * i, 3, MPI_INT, MPI_SUM, comm, &none[i]));
  DO(MPI_Waitall(2, none, statuses));
}

static void add(void* in, void* out, int* count, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *count; ++i) ((int*)out)[i] += ((int*)in)[i];
}

static void objects(void) {
  MPI_Comm other, grid;
  MPI_Op op;
  MPI_Info info;
  DO(MPI_Op_create(add, 1, &op));
  DO(MPI_Allreduce(a, b, 3, MPI_INT, op, comm));
  DO(MPI_Op_free(&op));
  DO(MPI_Info_create(&info));
  DO(MPI_Comm_set_info(comm, info));
  DO(MPI_Comm_dup_with_info(comm, info, &other));
  DO(MPI_Info_free(&info));
  DO(MPI_Comm_disconnect(&other));
  DO(MPI_Comm_dup(comm, &other));
  DO(MPI_Comm_free(&other));
  int wraps = 1;
  DO(MPI_Cart_create(comm, 1, &ranks, &wraps, 0, &grid));
  int two[2] = {1, 1};
  MPI_Aint at[2] = {0, sizeof(int)};
  DO(MPI_Neighbor_alltoallw(a, two, at, types, b, two, at, types, grid));
  DO(MPI_Ineighbor_alltoallw(a, two, at, types, b, two, at, types, grid, &q));
  WAIT;
  DO(MPI_Comm_free(&grid));
  MPI_Win win;
  int* shared;
  DO(MPI_Win_allocate_shared(64, 4, MPI_INFO_NULL, comm, &shared, &win));
  DO(MPI_Win_free(&win));
  DO(MPI_Alloc_mem(100000, MPI_INFO_NULL, &shared));
  DO(MPI_Free_mem(shared));
}

static const char* last_path(void) {
  const char* (*path)(void) = (const char* (*)(void))dlsym(RTLD_DEFAULT, "sumac_last_path");
  return path != NULL && path()[0] != '\0' ? path() : "none";
}

int main(int argc, char** argv) {
  if (argc > 1) {
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SINGLE, &level);
  } else {
    MPI_Init(&argc, &argv);
  }
  comm = MPI_COMM_WORLD;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  for (int i = 0; i < kMost; ++i) {
    ones[i] = 1;
    places[i] = i;
    bytes[i] = i * (int)sizeof(int);
    types[i] = MPI_INT;
  }
  for (int i = 0; i < kRounds; ++i) {
    for (int k = 0; k < 4 * kMost; ++k) a[k] = rank + i;
    DO(MPI_Allreduce(a, b, 3, MPI_INT, MPI_SUM, comm));
    wrong += b[2] != ranks * i + ranks * (ranks - 1) / 2;
  }
  const char* path = last_path();
  plain_collectives();
  large_collectives();
  messages();
  completion();
  objects();
  DO(MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, comm));
  if (rank == 0) printf("path %s, wrong %d\n", strncmp(path, "mpi:", 4) == 0 ? "mpi" : path, wrong);
  fflush(stdout);
  MPI_Finalize();
  return wrong != 0;
}
