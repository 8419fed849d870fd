// SPDX-License-Identifier: BSD-3-Clause
// madvise() and mremap() stand here in front of the C library's. Memory that Sumac shares with
// other processes must behave as the program's private memory would (src/promotion/sweep.cc).
// Before a back end asks for it, and if none does, a call goes on to the next definition. That is
// the C library's, or one in a library which watches memory for a network's adapter and has patched
// the C library's code.
//
// Programs are linked to these functions with a version, GLIBC_2.2.5 or so, and find Sumac's, which
// have that version too, but not as the default: dlsym() without a version finds the C library's.
// That is how libraries look for the code that they patch (UCX does), and it must stay the C
// library's: its own calls, such as realloc()'s of mremap(), do not come through any exported name.
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "interpose/stub/internal.h"

#pragma GCC visibility push(default)
int stub_madvise(void* address, size_t bytes, int advice);
void* stub_mremap(void* old_address, size_t old_bytes, size_t new_bytes, int flags, ...);
#pragma GCC visibility pop
__asm__(".symver stub_madvise, madvise@" SUMAC_GLIBC ", remove");
__asm__(".symver stub_mremap, mremap@" SUMAC_GLIBC ", remove");

static _Atomic(const struct sumac_memory_calls*) memory_calls;
static _Atomic(void*) next_madvise, next_mremap;
// A call for the page `probe` sets these flags.
static _Atomic(void*) probe;
static atomic_bool probed_madvise, probed_mremap;

static int system_madvise(void* address, size_t bytes, int advice) {
  return (int)syscall(SYS_madvise, address, bytes, advice);
}

static void* system_mremap(void* old_address, size_t old_bytes, size_t new_bytes, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  void* new_address = va_arg(arguments, void*);
  va_end(arguments);
  return (void*)syscall(SYS_mremap, old_address, old_bytes, new_bytes, flags, new_address);
}

// The function is looked up once. Threads that do so at the same time find the same.
static void* next_of(_Atomic(void*)* known, const char* name, void* otherwise) {
  void* function = atomic_load_explicit(known, memory_order_relaxed);
  if (function != NULL) return function;
  const int saved_errno = errno;
  function = dlsym(RTLD_NEXT, name);
  if (function == NULL) function = otherwise;
  atomic_store_explicit(known, function, memory_order_relaxed);
  errno = saved_errno;
  return function;
}

int stub_madvise(void* address, size_t bytes, int advice) {
  const sumac_madvise_fn next =
      (sumac_madvise_fn)next_of(&next_madvise, "madvise", (void*)system_madvise);
  const struct sumac_memory_calls* calls = atomic_load(&memory_calls);
  if (calls == NULL) return next(address, bytes, advice);
  if (address == atomic_load(&probe)) atomic_store(&probed_madvise, true);
  return calls->advise(address, bytes, advice, next);
}

void* stub_mremap(void* old_address, size_t old_bytes, size_t new_bytes, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  // The argument is only meant with MREMAP_FIXED or MREMAP_DONTUNMAP. The C library reads it as
  // well.
  void* new_address = flags & ~MREMAP_MAYMOVE ? va_arg(arguments, void*) : NULL;
  va_end(arguments);
  const sumac_mremap_fn next =
      (sumac_mremap_fn)next_of(&next_mremap, "mremap", (void*)system_mremap);
  const struct sumac_memory_calls* calls = atomic_load(&memory_calls);
  if (calls == NULL) return next(old_address, old_bytes, new_bytes, flags, new_address);
  if (old_address == atomic_load(&probe)) atomic_store(&probed_mremap, true);
  return calls->remap(old_address, old_bytes, new_bytes, flags, new_address, next);
}

// Returns true if both calls arrive here: their names may be defined before libsumac.so in the
// search order.
static bool arrive(const struct sumac_memory_calls* calls) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  void* at = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) return false;
  atomic_store(&probed_madvise, false);
  atomic_store(&probed_mremap, false);
  atomic_store(&probe, at);
  calls->madvise(at, page, MADV_NORMAL);
  calls->mremap(at, page, page, 0);
  atomic_store(&probe, NULL);
  munmap(at, page);
  return atomic_load(&probed_madvise) && atomic_load(&probed_mremap);
}

int stub_catch_memory_calls(const struct sumac_memory_calls* calls) {
  atomic_store(&memory_calls, calls);
  if (calls == NULL || arrive(calls)) return calls != NULL;
  atomic_store(&memory_calls, NULL);
  return 0;
}
