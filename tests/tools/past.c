// SPDX-License-Identifier: BSD-3-Clause
// past LIBRARY: requests that the program makes and a library completes which reaches the MPI past
// Sumac.
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif

#if MPI_VERSION >= 4
#define ALLREDUCE_INIT MPI_Allreduce_init
#else
#define ALLREDUCE_INIT MPIX_Allreduce_init
#endif

enum { kRounds = 30, kMany = 50000 };
static int (*past_wait)(MPI_Request*);
static int (*past_waitall)(int, MPI_Request*);
static int (*past_test)(MPI_Request*, int*);
static int (*past_start)(MPI_Request*);
static int (*past_free)(MPI_Request*);
static double mine[kMany], sums[kMany];
static int rank, ranks, wrong;

static void open_library(const char* path) {
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
  if (library == NULL) {
    puts(dlerror());
    exit(1);
  }
  *(void**)&past_wait = dlsym(library, "past_wait");
  *(void**)&past_waitall = dlsym(library, "past_waitall");
  *(void**)&past_test = dlsym(library, "past_test");
  *(void**)&past_start = dlsym(library, "past_start");
  *(void**)&past_free = dlsym(library, "past_free");
}

static void nonblocking(int count, MPI_Comm comm, int members) {
  for (int round = 0; round < kRounds; ++round) {
    MPI_Request requests[2];
    int one = 1, all = 0, done = 0;
    MPI_Iallreduce(&one, &all, 1, MPI_INT, MPI_SUM, comm, &requests[0]);
    MPI_Iallreduce(mine, sums, count, MPI_DOUBLE, MPI_MAX, comm, &requests[1]);
    if (round % 3 == 0) past_waitall(2, requests);
    if (round % 3 == 1) past_wait(&requests[0]), past_wait(&requests[1]);
    while (round % 3 == 2 && !done) past_test(&requests[0], &done);
    if (round % 3 == 2) past_wait(&requests[1]);
    wrong += all != members || sums[count - 1] != (members > 1 ? ranks - 1 : rank);
  }
}

static void persistent(void) {
  int one = 1, all = 0;
  MPI_Request request;
  ALLREDUCE_INIT(&one, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  for (int round = 0; round < kRounds; ++round) {
    all = 0;
    if (round % 2) {
      past_start(&request);
    } else {
      MPI_Start(&request);
    }
    past_wait(&request);
    wrong += all != ranks;
  }
  past_free(&request);
}

int main(int argc, char** argv) {
  if (argc > 1) open_library(argv[1]);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int i = 0; i < kMany; ++i) mine[i] = rank;
  for (int i = 0; i < 4; ++i) MPI_Barrier(MPI_COMM_WORLD);
  const char* (*path)(void);
  *(void**)&path = dlsym(RTLD_DEFAULT, "sumac_last_path");
  if (path == NULL || path()[0] == '\0' || path()[0] == 'm') ++wrong;  // "mpi: ..."
  nonblocking(1, MPI_COMM_WORLD, ranks);
  nonblocking(kMany, MPI_COMM_WORLD, ranks);
  nonblocking(1, MPI_COMM_SELF, 1);
  persistent();
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf(wrong ? "wrong: %d\n" : "passed: %d\n", wrong ? wrong : ranks);
  MPI_Finalize();
  return wrong != 0;
}
