// SPDX-License-Identifier: BSD-3-Clause
// The first MPI call of a process: find its MPI, start the back end of the MPI's family, and point
// every slot at the back end's function, else at the MPI's own.
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/mark.h"
#include "base/switch_word.h"
#include "interpose/stub/internal.h"

const char* const stub_call_names[SUMAC_NUM_CALLS] = {
#define SUMAC_CALL(name) "MPI_" #name,
#include "interpose/calls.def"
#undef SUMAC_CALL
};

enum state { kUnresolved, kResolving, kResolved };

// Recursive, because opening a back end may run code that calls MPI_X in this thread. Other threads
// wait: their calls must take the way that this process will take from then on, or the ranks of a
// collective would not all take the same.
static pthread_mutex_t resolving = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static atomic_int state = kUnresolved;
static struct mpi_library mpi;
static struct sumac_stub stub;
static void* real[SUMAC_NUM_CALLS];
static void* below[SUMAC_NUM_CALLS];    // those, or what stands for those the MPI lacks
static void* targets[SUMAC_NUM_CALLS];  // what the slots will be

bool stub_resolved(void) { return atomic_load_explicit(&state, memory_order_acquire) == kResolved; }

static bool switched_off(void) {
  const char* value = getenv("SUMAC_DISABLE");
  return value != NULL && sumac_switch_word(value) == 1;
}

static bool statistics_wanted(void) {
  const char* value = getenv("SUMAC_STATS");
  return value != NULL && *value != '\0' && sumac_switch_word(value) != 0;
}

static void target_functions_below(void) { memcpy(targets, below, sizeof targets); }

void* stub_mpi_function(const char* symbol) { return stub_symbol(mpi.handle, symbol); }

// While the back end starts, its choices are only noted: no other thread may run into a back end
// that is half set up, nor one that then declines.
static void redirect(int call, void* function) {
  if (call < 0 || call >= SUMAC_NUM_CALLS || function == NULL) return;
  if (stub_resolved()) {
    atomic_store_explicit(&stub_slots[call], function, memory_order_release);
  } else {
    targets[call] = function;
  }
}

// Tells the job's other ranks not to wait for this one.
static void mark_as(const char* what) {
  const struct sumac_job job = sumac_own_job(stub.family, "/proc");
  sumac_make_mark(&job, what);
}

static void choose_targets(void) {
  target_functions_below();
  if (switched_off()) {
    mark_as(SUMAC_MARK_DISABLED);
    if (statistics_wanted()) {
      stub_warn("disabled", "Sumac is off (SUMAC_DISABLE), so there are no statistics");
    }
    return;
  }
  stub.version = SUMAC_STUB_VERSION;
  stub.mpi_path = mpi.path;
  stub.intercepts = stub_intercepts();
  stub.below = below;
  stub.lookup = stub_mpi_function;
  stub.redirect = redirect;
  stub.catch_memory_calls = stub_catch_memory_calls;
  if (stub.family == NULL) {
    stub_warn("unknown-mpi",
              "%s is neither Open MPI nor of the MPICH family; running without Sumac", mpi.path);
  } else if (stub_start_backend(&stub)) {
    if (!stub.intercepts) mark_as(SUMAC_MARK_NOT_ABLE);
    return;
  }
  target_functions_below();
  mark_as(SUMAC_MARK_NOT_ABLE);
}

static void find_functions_below(void) {
  stub.family = stub_family(mpi.handle);
  stub.mpi = mpi.handle;
  stub.real = real;
  for (int call = 0; call < SUMAC_NUM_CALLS; ++call) {
    real[call] = stub_real_function(mpi.handle, call);
  }
  for (int call = 0; call < SUMAC_NUM_CALLS; ++call) {
    below[call] = real[call] != NULL ? real[call] : stub_substitute(call, &stub);
  }
}

static bool resolve(const void* caller) {
  if (!stub_find_mpi(&mpi, caller)) return false;
  find_functions_below();
  choose_targets();
  for (int call = 0; call < SUMAC_NUM_CALLS; ++call) {
    atomic_store_explicit(&stub_slots[call], targets[call], memory_order_release);
  }
  return true;
}

// With the lock held. A call made by what resolve() itself runs goes straight to the MPI.
static void* resolve_or_reenter(int call, const void* caller) {
  if (atomic_load(&state) == kUnresolved) {
    atomic_store(&state, kResolving);
    const bool done = resolve(caller);
    // Without an MPI nothing is settled: one may be opened before the next call.
    atomic_store_explicit(&state, done ? kResolved : kUnresolved, memory_order_release);
    if (!done) return stub_absent(call);
  }
  if (stub_resolved()) return atomic_load_explicit(&stub_slots[call], memory_order_acquire);
  return below[call];
}

void* stub_resolve(int call, const void* caller) {
  const int saved_errno = errno;
  pthread_mutex_lock(&resolving);
  void* target = resolve_or_reenter(call, caller);
  pthread_mutex_unlock(&resolving);
  errno = saved_errno;
  return target;
}

void* stub_native(int call, const void* caller) {
  if (stub_resolved()) return real[call];
  void* function = NULL;
  pthread_mutex_lock(&resolving);
  if (atomic_load(&state) != kUnresolved) {
    function = real[call];
  } else {
    struct mpi_library found;
    if (stub_find_mpi(&found, caller)) {
      function = stub_real_function(found.handle, call);
      stub_forget_mpi(&found);
    }
  }
  pthread_mutex_unlock(&resolving);
  return function;
}
