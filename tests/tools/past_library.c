// SPDX-License-Identifier: BSD-3-Clause
// Completes and starts requests. Opened with RTLD_DEEPBIND, it calls the MPI past Sumac.
#include <mpi.h>

#define EXPORT __attribute__((visibility("default")))
EXPORT int past_wait(MPI_Request* request);
EXPORT int past_waitall(int count, MPI_Request* requests);
EXPORT int past_test(MPI_Request* request, int* done);
EXPORT int past_start(MPI_Request* request);
EXPORT int past_free(MPI_Request* request);

int past_wait(MPI_Request* request) {
  MPI_Status status;
  return MPI_Wait(request, &status);
}

int past_waitall(int count, MPI_Request* requests) {
  return MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
}

int past_test(MPI_Request* request, int* done) {
  MPI_Status status;
  return MPI_Test(request, done, &status);
}

int past_start(MPI_Request* request) { return MPI_Start(request); }
int past_free(MPI_Request* request) { return MPI_Request_free(request); }
