// SPDX-License-Identifier: BSD-3-Clause
// Many threads make the first MPI call of the process at once. The same as a library, opened by a
// program that does not use MPI, has plugin_calls().
#include <pthread.h>
#include <stdio.h>

#include "fake_mpi.h"

enum { kThreads = 32, kCalls = 200 };
static pthread_barrier_t start;

static void* work(void* unused) {
  (void)unused;
  pthread_barrier_wait(&start);
  intptr_t wrong = 0;
  for (int i = 0; i < kCalls; ++i) wrong += MPI_Barrier(i) != FAKE_RESULT;
  return (void*)wrong;
}

int main(void) {
  pthread_t threads[kThreads];
  intptr_t wrong = 0;
  pthread_barrier_init(&start, NULL, kThreads);
  for (int i = 0; i < kThreads; ++i) pthread_create(&threads[i], NULL, work, NULL);
  for (int i = 0; i < kThreads; ++i) {
    void* result;
    pthread_join(threads[i], &result);
    wrong += (intptr_t)result;
  }
  printf("%d calls, %ld wrong\n", fake_calls, (long)wrong);
  return wrong == 0 && fake_calls == kThreads * kCalls ? 0 : 1;
}

__attribute__((visibility("default"))) int plugin_calls(void);

int plugin_calls(void) { return MPI_Barrier(1) == FAKE_RESULT ? fake_calls : -1; }
