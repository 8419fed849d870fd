// SPDX-License-Identifier: BSD-3-Clause
// This is the process's MPI, once resolve.c has found it, and its own functions.
#include "interpose/stub/internal.h"

struct stub_mpi stub_mpi = {.resolving = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP};

bool stub_resolved(void) {
  return atomic_load_explicit(&stub_mpi.state, memory_order_acquire) == kResolved;
}

bool stub_was_called(void) { return atomic_load(&stub_mpi.state) != kUnresolved; }

void* stub_mpi_function(const char* symbol) { return stub_symbol(stub_mpi.library.handle, symbol); }

void* stub_native(int call, const void* caller) {
  if (stub_resolved()) return stub_mpi.functions[call];
  void* function = NULL;
  pthread_mutex_lock(&stub_mpi.resolving);
  if (atomic_load(&stub_mpi.state) != kUnresolved) {
    function = stub_mpi.functions[call];
  } else {
    struct mpi_library found;
    if (stub_find_mpi(&found, caller, NULL)) {
      function = stub_real_function(found.handle, call);
      stub_forget_mpi(&found);
    }
  }
  pthread_mutex_unlock(&stub_mpi.resolving);
  return function;
}
