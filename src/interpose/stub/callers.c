// SPDX-License-Identifier: BSD-3-Clause
// If the global scope has no MPI, this file finds out which library a call is for: plug-ins opened
// RTLD_LOCAL bring their own, and a process may have several MPIs, or libraries with functions of
// MPI's names. Each call is then looked up as the loader would have bound it: in the scope of the
// object it comes from.
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

#include "interpose/stub/internal.h"

// Calls come from this object. It stays open, so that no other one takes its place.
struct caller {
  struct caller* next;
  struct object object;
  void* handle;
  bool has_mpi;                    // an MPI is in its scope
  bool is_strange;                 // it is another MPI than Sumac serves
  _Atomic(void*) targets[kSlots];  // NULL: not looked up yet; to_served: goes to Sumac's functions
};

static char to_served;
static _Atomic(struct caller*) callers;
static pthread_mutex_t learning = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool several_mpis;
// This thread's last call from an object with an MPI in its scope came from this caller.
static _Thread_local struct caller* recent __attribute__((tls_model("initial-exec")));

static struct caller* find(const void* address) {
  struct caller* caller = atomic_load_explicit(&callers, memory_order_acquire);
  while (caller != NULL && !object_holds(&caller->object, address)) caller = caller->next;
  return caller;
}

static struct caller* open_caller(const void* address) {
  struct objects all = stub_list_objects();
  const struct object* object = stub_object_at(&all, address);
  void* handle = object != NULL ? stub_open_object(object) : NULL;
  struct caller* caller = handle != NULL ? calloc(1, sizeof *caller) : NULL;
  if (caller != NULL) {
    caller->handle = handle;
    caller->object = (struct object){NULL, object->low, object->high};
  }
  stub_free_objects(&all);
  return caller;
}

static struct caller* learn(const struct mpi_library* mpi, const void* address) {
  Dl_info info;
  if (dladdr(address, &info) == 0) return NULL;  // the code was made at run time
  pthread_mutex_lock(&learning);
  struct caller* caller = find(address);
  if (caller == NULL && (caller = open_caller(address)) != NULL) {
    const void* mark = stub_symbol(caller->handle, kMpiMark);
    caller->has_mpi = mark != NULL;
    caller->is_strange = mark != NULL && !stub_is_of_mpi(mpi, mark);
    if (caller->is_strange) atomic_store(&several_mpis, true);
    caller->next = atomic_load(&callers);
    atomic_store_explicit(&callers, caller, memory_order_release);
  }
  pthread_mutex_unlock(&learning);
  return caller;
}

// A function that ends by calling MPI may do so by a jump; then the call seems to come from the
// function's caller, which may have nothing to do with MPI.
static struct caller* in_whose_name(struct caller* caller) {
  static atomic_flag reported;
  if (caller != NULL && caller->has_mpi) return recent = caller;
  if (atomic_load(&several_mpis) && !atomic_flag_test_and_set(&reported)) {
    stub_warn("unclear-mpi",
              "several MPIs are in this process, and a call comes from code that is linked to none "
              "of them; it goes to the one that this thread called last");
  }
  return recent;
}

static void* look_up(const struct mpi_library* mpi, int slot, struct caller* caller) {
  char name[kLongestName];
  void* symbol = stub_symbol(caller->handle, stub_name(name, slot));
  if (symbol != NULL) return stub_is_of_mpi(mpi, symbol) ? &to_served : symbol;
  // A function that this caller's MPI lacks must not become that of another MPI.
  if (caller->is_strange) return stub_absent(stub_call_of(slot));
  return caller->has_mpi ? &to_served : NULL;
}

static void* target_of(const struct mpi_library* mpi, int slot, struct caller* caller) {
  if (caller == NULL) return NULL;
  void* target = atomic_load_explicit(&caller->targets[slot], memory_order_acquire);
  if (target == NULL) {
    target = look_up(mpi, slot, caller);
    atomic_store_explicit(&caller->targets[slot], target, memory_order_release);
  }
  return target;
}

void* stub_target_for(const struct mpi_library* mpi, int slot, const void* address) {
  struct caller* caller = find(address);
  if (caller == NULL) caller = learn(mpi, address);
  void* target = target_of(mpi, slot, caller);
  if (target == NULL) target = target_of(mpi, slot, in_whose_name(caller));
  if (caller != NULL && caller->has_mpi) recent = caller;
  return target == &to_served ? NULL : target;
}
