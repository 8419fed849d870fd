// SPDX-License-Identifier: BSD-3-Clause
// A library that defines a function of MPI's and is no MPI, as serial programs have them.
#include "fake_mpi.h"

__attribute__((visibility("default"))) int fake_calls;

__attribute__((visibility("default"))) int MPI_Barrier(word a) {
  (void)a;
  __atomic_add_fetch(&fake_calls, 1, __ATOMIC_RELAXED);
  return FAKE_RESULT;
}
