// SPDX-License-Identifier: BSD-3-Clause
// A plug-in with an MPI of its own. Two of them are opened by two_mpis.c, of which each is a job of
// one rank. past.c opens it with RTLD_DEEPBIND, so that it calls the MPI past Sumac.
#include <mpi.h>
#include <stddef.h>

int plugin_begin(void);
int plugin_sum(void);
int plugin_end(void);
int past_wait(MPI_Request* request);
int past_waitall(int count, MPI_Request* requests);
int past_test(MPI_Request* request, int* done);
int past_start(MPI_Request* request);
int past_free(MPI_Request* request);

int plugin_begin(void) { return MPI_Init(NULL, NULL) != MPI_SUCCESS; }

int plugin_sum(void) {
  int wrong = 0, size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int i = 0; i < 20; ++i) {
    int five = 5, sum = 0;
    MPI_Request request;
    MPI_Allreduce(&five, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    wrong += sum != 5 * size;
    MPI_Iallreduce(&five, &sum, 1, MPI_INT, MPI_MAX, MPI_COMM_SELF, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    wrong += sum != 5;
    MPI_Barrier(MPI_COMM_WORLD);
  }
  return wrong;
}

int plugin_end(void) { return MPI_Finalize() != MPI_SUCCESS; }

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
