// SPDX-License-Identifier: BSD-3-Clause
// The universal stub (libsumac.so) and a back end (libsumac-<family>.so) know this of each other.
// It is plain C without an MPI header, because the stub serves every MPI.
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct sumac_site;  // see config/site.h

#define SUMAC_STUB_VERSION 7u

// This is the index of an intercepted function: SUMAC_CALL_Allreduce and so on.
enum sumac_call {
#define SUMAC_CALL(name) SUMAC_CALL_##name,
#include "interpose/calls.def"
#undef SUMAC_CALL
  SUMAC_NUM_CALLS
};

// By these two calls a program gives memory back, or moves it, without unmapping it. libsumac.so
// exports them in front of the C library; until a back end sets these functions, they go on to the
// next definition (the C library's) and do nothing else.
typedef int (*sumac_madvise_fn)(void* address, size_t bytes, int advice);
typedef void* (*sumac_mremap_fn)(void*, size_t, size_t, int, ...);
struct sumac_memory_calls {
  // Does what madvise() does, by `next`.
  int (*advise)(void* address, size_t bytes, int advice, sumac_madvise_fn next);
  // Does what mremap() does, by `next`.
  void* (*remap)(void* old_address, size_t old_bytes, size_t new_bytes, int flags,
                 void* new_address, sumac_mremap_fn next);
  // These are the two functions as the dynamic linker has bound them for the back end, and so for
  // the program and its libraries. dlsym() and dlvsym() would not tell: they treat symbols without
  // a version, as those of tcmalloc are, in other ways than the dynamic linker does.
  sumac_madvise_fn madvise;
  sumac_mremap_fn mremap;
};

struct sumac_stub {
  uint32_t version;      // SUMAC_STUB_VERSION of the stub
  const char* family;    // "openmpi", "mpich", "mpiabi"
  const char* mpi_path;  // the file the MPI was loaded from
  void* mpi;             // dlopen handle of the MPI
  // True if the program's calls come here first; 0: libsumac.so is only linked, behind the MPI.
  int intercepts;
  // True if requests that are given to the program may be completed past Sumac.
  int requests_pass_by;
  // These are the MPI's own PMPI_<name>, or NULL if this MPI lacks it. The index is a sumac_call.
  void* const* real;
  // These are the same, or what the stub puts in the place of what this MPI lacks.
  void* const* below;
  // Does dlsym on the MPI's handle, for functions outside the table ("PMPI_Comm_rank").
  void* (*lookup)(const char* symbol);
  // From now on MPI_X and PMPI_X go to `function` (same signature as PMPI_X).
  void (*redirect)(int call, void* function);
  // From now on the program's calls come to these functions, which stay valid; NULL: to none.
  // Returns 1 if they do come, which it tries by calls of both, through the names that programs
  // use. If it returns 0, they come to none.
  int (*catch_memory_calls)(const struct sumac_memory_calls* calls);
  // These are the lines of the site's files. They stay where they are.
  const struct sumac_site* site;
};

// Every back end exports this. It redirects what it takes; returns NULL, or the reason (a static
// string) why it cannot work, having redirected nothing.
typedef const char* (*sumac_backend_start_fn)(const struct sumac_stub* stub);
#define SUMAC_BACKEND_START "sumac_backend_start"

#ifdef __cplusplus
}
#endif
