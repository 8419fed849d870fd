// SPDX-License-Identifier: BSD-3-Clause
// A back end for fake_mpi.c. FAKE_BACKEND selects what it does: take (serves Barrier), decline
// (after redirecting it), reenter (calls MPI_Barrier while it starts), unwind (checks that the
// stack can be unwound), memory (catches madvise and mremap).
#include <dlfcn.h>
#include <execinfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#include "fake_mpi.h"
#include "interpose/stub/stub.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT const char* sumac_backend_start(const struct sumac_stub* stub);
EXPORT const char* sumac_backend_last_path(void);
EXPORT const char* sumac_backend_description(void);

// By name, as the real one refers to MPI data: the MPI must be in a scope where it is looked up.
extern char ompi_mpi_comm_world[8];

static int (*real_barrier)(word);

static int barrier(word comm) {
  fputs("backend barrier\n", stderr);
  return real_barrier(comm);
}

static const char* broken_contract(const struct sumac_stub* stub) {
  if (stub->version != SUMAC_STUB_VERSION) return "version";
  if (strcmp(stub->family, "openmpi") != 0) return "family";
  if (strstr(stub->mpi_path, "fake_openmpi") == NULL) return "mpi_path";
  if (stub->real[SUMAC_CALL_Barrier] != stub->lookup("PMPI_Barrier")) return "real";
  if (stub->real[SUMAC_CALL_Barrier_init] != stub->lookup("PMPIX_Barrier_init")) return "MPIX";
  if (stub->real[SUMAC_CALL_Cancel] != NULL) return "real of a missing function";
  if (stub->real[SUMAC_CALL_Pack_c] != NULL) return "real of a missing large-count form";
  if (stub->lookup("PMPI_Nonsense") != NULL) return "lookup";
  if (stub->lookup("ompi_mpi_comm_world") != ompi_mpi_comm_world) return "data of the MPI";
  return NULL;
}

// True if the stack can be unwound through the stub's assembly down to the program.
static int reaches_program(void) {
  void* frames[64];
  Dl_info info, program;
  const int count = backtrace(frames, 64);
  if (dladdr((void*)getauxval(AT_ENTRY), &program) == 0) return 0;
  for (int i = 0; i < count; ++i) {
    if (dladdr(frames[i], &info) != 0 && info.dli_fbase == program.dli_fbase) return 1;
  }
  return 0;
}

static struct {
  int advised, remapped, refuse;
  void* address;
  size_t bytes;
} seen;

static int advise(void* address, size_t bytes, int advice, sumac_madvise_fn next) {
  ++seen.advised;
  seen.address = address;
  seen.bytes = bytes;
  return advice == 777 ? 33 : next(address, bytes, advice);
}

static void* remap(void* address, size_t bytes, size_t new_bytes, int flags, void* to,
                   sumac_mremap_fn next) {
  ++seen.remapped;
  seen.address = address;
  seen.bytes = bytes;
  return seen.refuse ? MAP_FAILED : next(address, bytes, new_bytes, flags, to);
}

static int saw(void* address, size_t bytes, int advised, int remapped) {
  const int right = seen.advised == advised && seen.remapped == remapped &&
                    seen.address == address && seen.bytes == bytes;
  memset(&seen, 0, sizeof seen);
  return right;
}

static const char* broken_memory_calls(const struct sumac_stub* stub) {
  static const struct sumac_memory_calls calls = {advise, remap, madvise, mremap};
  enum { kPage = 4096 };
  char* at = mmap(NULL, 8 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  at[0] = at[5 * kPage] = 1;
  if (madvise(at, kPage, 777) != -1) return "a call before they are caught";
  if (stub->catch_memory_calls(&calls) != 1) return "memory calls do not arrive";
  memset(&seen, 0, sizeof seen);
  if (madvise(at, 2 * kPage, 777) != 33 || !saw(at, 2 * kPage, 1, 0)) return "madvise";
  if (madvise(at, kPage, MADV_DONTNEED) != 0 || at[0] != 0) return "madvise by the next one";
  memset(&seen, 0, sizeof seen);
  char* to = at + 2 * kPage;
  if (mremap(at + 5 * kPage, kPage, kPage, MREMAP_MAYMOVE | MREMAP_FIXED, to) != to || *to != 1 ||
      !saw(at + 5 * kPage, kPage, 0, 1)) {
    return "mremap to an address";
  }
  if (mremap(at + 7 * kPage, kPage, 0, 0) != MAP_FAILED) return "an error of mremap";
  memset(&seen, 0, sizeof seen);
  seen.refuse = 1;
  if (mremap(to, kPage, 2 * kPage, MREMAP_MAYMOVE) != MAP_FAILED || *to != 1) return "refused";
  if (stub->catch_memory_calls(NULL) != 0) return "caught no more";
  memset(&seen, 0, sizeof seen);
  return madvise(at, kPage, 777) == -1 && saw(NULL, 0, 0, 0) ? NULL : "a call after that";
}

const char* sumac_backend_start(const struct sumac_stub* stub) {
  const char* mode = getenv("FAKE_BACKEND");
  const char* broken = broken_contract(stub);
  if (broken != NULL) return broken;
  if (mode == NULL) return "FAKE_BACKEND is not set";
  memcpy(&real_barrier, &stub->real[SUMAC_CALL_Barrier], sizeof real_barrier);
  stub->redirect(SUMAC_CALL_Barrier, (void*)barrier);
  if (strcmp(mode, "decline") == 0) return "it was asked to decline";
  if (strcmp(mode, "memory") == 0) {
    const char* wrong = broken_memory_calls(stub);
    if (wrong != NULL) return wrong;
    fputs("backend caught memory calls\n", stderr);
  }
  if (strcmp(mode, "unwind") == 0 && !reaches_program()) return "the stack cannot be unwound";
  if (strcmp(mode, "reenter") == 0) {
    int (*reentered)(word);
    *(void**)&reentered = dlsym(RTLD_DEFAULT, "MPI_Barrier");
    if (reentered(1) != FAKE_RESULT) return "a call during the start went wrong";
    fputs("backend reentered\n", stderr);
  }
  fputs("backend started\n", stderr);
  return NULL;
}

const char* sumac_backend_last_path(void) { return "fake path"; }
const char* sumac_backend_description(void) { return "fake description"; }
