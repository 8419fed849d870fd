// SPDX-License-Identifier: BSD-3-Clause
// A few functions with names of MPI functions, which record their arguments. The fake MPI belongs
// to no family that Sumac supports; with FAKE_OPENMPI it looks like Open MPI. With FAKE_STUBS it
// defines one of the functions and is no MPI, as libraries of serial programs do.
#include "fake_mpi.h"

#include <string.h>

#define EXPORT __attribute__((visibility("default")))
#define ALIAS(name) \
  extern __typeof(PMPI_##name) MPI_##name EXPORT __attribute__((weak, alias("PMPI_" #name)))

EXPORT int fake_calls;

#ifdef FAKE_STUBS

EXPORT int MPI_Barrier(word a) {
  (void)a;
  __atomic_add_fetch(&fake_calls, 1, __ATOMIC_RELAXED);
  return FAKE_RESULT;
}

#else

EXPORT word fake_arguments[9];

#ifdef FAKE_OPENMPI
EXPORT char ompi_mpi_comm_world[8];
#endif

static int note(int count, const word* arguments) {
  memset(fake_arguments, 0, sizeof fake_arguments);
  memcpy(fake_arguments, arguments, (unsigned)count * sizeof *arguments);
  __atomic_add_fetch(&fake_calls, 1, __ATOMIC_RELAXED);
  return FAKE_RESULT;
}

int PMPI_Get_version(int* version, int* subversion);
EXPORT int PMPI_Get_version(int* version, int* subversion) {
  *version = 3;
  *subversion = 1;
  return 0;
}

EXPORT int PMPI_Barrier(word a) {
  (void)a;
  __atomic_add_fetch(&fake_calls, 1, __ATOMIC_RELAXED);
  return FAKE_RESULT;
}

EXPORT int PMPI_Bcast(word a, word b, word c, word d, word e) {
  return note(5, (word[]){a, b, c, d, e});
}

EXPORT int PMPI_Allreduce(word a, word b, word c, word d, word e, word f) {
  return note(6, (word[]){a, b, c, d, e, f});
}

EXPORT int PMPI_Reduce(word a, word b, word c, word d, word e, word f, word g) {
  return note(7, (word[]){a, b, c, d, e, f, g});
}

EXPORT int PMPI_Ireduce(word a, word b, word c, word d, word e, word f, word g, word h) {
  return note(8, (word[]){a, b, c, d, e, f, g, h});
}

EXPORT int PMPI_Reduce_init(word a, word b, word c, word d, word e, word f, word g, word h,
                            word i) {
  return note(9, (word[]){a, b, c, d, e, f, g, h, i});
}

// The real signature with its ints: MPI_Pack_c must arrive here.
EXPORT int PMPI_Pack(word in, int count, word type, word out, int size, int* position, word comm) {
  *position += count;
  return note(7, (word[]){in, count, type, out, size, *position, comm});
}

// A persistent collective under the name it had before MPI 4.0.
EXPORT int PMPIX_Barrier_init(word comm, word info, word request) {
  return note(3, (word[]){comm, info, request});
}

ALIAS(Get_version);
ALIAS(Barrier);
ALIAS(Bcast);
ALIAS(Allreduce);
ALIAS(Reduce);
ALIAS(Ireduce);
ALIAS(Reduce_init);
ALIAS(Pack);

#endif
