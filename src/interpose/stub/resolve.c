// SPDX-License-Identifier: BSD-3-Clause
// The first MPI call of a process finds its MPI, starts the back end of the MPI's family, and
// decides where calls go. What Sumac serves, it serves in the MPI's place: behind whatever the
// process has in front of the MPI. So a name that a tool has redefined leads to the tool, as
// without Sumac, and the name by which the tool passes the call on leads to the back end's
// function, or else to the MPI's own.
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/mark.h"
#include "base/message.h"
#include "base/switch_word.h"
#include "config/site.h"
#include "interpose/stub/internal.h"

// This is the process's MPI, once resolve.c has found it, and its own functions.

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

static struct sumac_stub stub;
static void* below[SUMAC_NUM_CALLS];  // the MPI's own functions, or what stands for them
static void* before[kSlots];          // functions that others have put before the MPI, behind Sumac
static _Atomic(void*) served[SUMAC_NUM_CALLS];  // functions that take the calls to the MPI
// True if no MPI is in the global scope: the object that makes a call then decides which library it
// is for.
static bool by_caller;

// The paths are static because they are too long for the stacks of small threads.
static struct sumac_site site;
static void read_site(void) {
  static char directory[PATH_MAX];
  const bool known = stub_own_directory(directory);
  sumac_site_read(&site, SUMAC_SITE_FILE, known ? directory : NULL);
  const struct sumac_setting debug = sumac_site_setting(&site, "DEBUG", getenv("SUMAC_DEBUG"));
  if (debug.entry != NULL) sumac_set_debug_word(debug.text);
  stub.site = &site;
}

static bool is_switch_on(const struct sumac_setting* setting) {
  return setting->text != NULL && sumac_switch_word(setting->text) == 1;
}

static bool statistics_wanted(void) {
  const char* value = getenv("SUMAC_STATS");
  return value != NULL && *value != '\0' && sumac_switch_word(value) != 0;
}

static void serve_nothing(void) {
  for (int call = 0; call < SUMAC_NUM_CALLS; ++call) served[call] = below[call];
}

static void publish(int slot) {
  void* target = before[slot];
  if (target == NULL && by_caller) return;  // decided anew for each call
  if (target == NULL) target = atomic_load(&served[stub_call_of(slot)]);
  atomic_store_explicit(&stub_slots[slot], target, memory_order_release);
}

// While the back end starts, its choices are only noted: no other thread may run into a back end
// that is half set up, nor one that then declines.
static void redirect(int call, void* function) {
  if (call < 0 || call >= SUMAC_NUM_CALLS || function == NULL) return;
  if (stub.requests_pass_by && stub_gives_request(call)) return;
  atomic_store(&served[call], function);
  for (int slot = 0; slot < kSlots && stub_resolved(); ++slot) {
    if (stub_call_of(slot) == call) publish(slot);
  }
}

// Tells the job's other ranks not to wait for this one.
static void mark_as(const char* what) {
  const struct sumac_job job = sumac_own_job(stub.family, "/proc");
  sumac_make_mark(&job, what);
}

// Ranks may have different tools, and if one of them takes a collective past Sumac, Sumac must not
// serve it on another. To the others, a rank without a back end is one without Sumac.
static bool stands_aside(void) {
  if (stub.family == NULL) {
    stub_warn("unknown-mpi",
              "%s is neither Open MPI nor of the MPICH family; running without Sumac",
              stub_mpi.library.path);
    return true;
  }
  const char* tool = stub.intercepts ? stub_collectives_pass_by(before) : NULL;
  if (tool == NULL) return false;
  stub_warn("calls-pass-by",
            "%s is behind Sumac and takes calls past it to the MPI; running without Sumac\n"
            "  fix:   load the tool in front of Sumac: LD_PRELOAD=%s sumac run ...",
            tool, tool);
  return true;
}

static void choose_functions(void) {
  serve_nothing();
  read_site();
  const struct sumac_setting off = sumac_site_setting(&site, "DISABLE", getenv("SUMAC_DISABLE"));
  if (is_switch_on(&off)) {
    mark_as(SUMAC_MARK_DISABLED);
    if (statistics_wanted()) {
      stub_warn("disabled", "Sumac is off (%s), so there are no statistics",
                off.entry != NULL ? off.entry->file : "SUMAC_DISABLE");
    }
    return;
  }
  stub.version = SUMAC_STUB_VERSION;
  stub.mpi_path = stub_mpi.library.path;
  stub.intercepts = stub_intercepts();
  stub.requests_pass_by = stub.intercepts && stub_requests_pass_by(&stub_mpi.library, before);
  stub.below = below;
  stub.lookup = stub_mpi_function;
  stub.redirect = redirect;
  stub.catch_memory_calls = stub_catch_memory_calls;
  if (!stands_aside() && stub_start_backend(&stub)) {
    if (!stub.intercepts) mark_as(SUMAC_MARK_NOT_ABLE);
    if (stub.requests_pass_by) {
      stub_warn("requests-pass-by",
                "a tool or library in this process completes requests past Sumac; nonblocking and "
                "persistent calls are left to the MPI");
    }
    return;
  }
  serve_nothing();
  mark_as(SUMAC_MARK_NOT_ABLE);
}

static void find_functions_below(void) {
  stub.family = stub_family(stub_mpi.library.handle);
  stub.mpi = stub_mpi.library.handle;
  stub.real = stub_mpi.functions;
  for (int call = 0; call < SUMAC_NUM_CALLS; ++call) {
    stub_mpi.functions[call] = stub_real_function(stub_mpi.library.handle, call);
  }
  for (int call = 0; call < SUMAC_NUM_CALLS; ++call) {
    below[call] =
        stub_mpi.functions[call] != NULL ? stub_mpi.functions[call] : stub_substitute(call, &stub);
  }
}

static void find_what_is_before(void) {
  char name[kLongestName];
  by_caller = dlsym(RTLD_DEFAULT, kMpiMark) == NULL;
  for (int slot = 0; slot < kSlots; ++slot) {
    void* next = stub_behind(stub_name(name, slot));
    const bool of_mpi = stub_is_of_any_mpi(&stub_mpi.library, next) ||
                        next == stub_mpi.functions[stub_call_of(slot)];
    before[slot] = of_mpi ? NULL : next;
  }
}

static bool resolve(int slot, const void* caller) {
  char name[kLongestName];
  if (!stub_find_mpi(&stub_mpi.library, caller, stub_name(name, slot))) return false;
  find_functions_below();
  find_what_is_before();  // before the back end opens the MPI for all
  choose_functions();
  for (int each = 0; each < kSlots; ++each) publish(each);
  return true;
}

// Serves a call of a process without an MPI, or of a part of it that has nothing to do with its
// MPI. The call is to a library with functions of MPI's names, as serial programs have them.
static void* without_mpi(int slot, const void* caller) {
  char name[kLongestName];
  void* function = stub_behind(stub_name(name, slot));
  if (function != NULL) {
    // Libraries that are loaded later come behind it.
    atomic_store_explicit(&stub_slots[slot], function, memory_order_release);
    return function;
  }
  struct objects all = stub_list_objects();
  const struct object* from = stub_object_at(&all, caller);
  if (from != NULL) function = stub_symbol_of_object(from, name);
  stub_free_objects(&all);
  return function != NULL ? function : stub_absent(stub_call_of(slot));
}

static void* target_of(int slot, const void* caller) {
  void* target = atomic_load_explicit(&stub_slots[slot], memory_order_acquire);
  if (target != stub_lazy_entries[slot]) return target;
  target = stub_target_for(&stub_mpi.library, slot, caller);
  return target != NULL ? target : atomic_load(&served[stub_call_of(slot)]);
}

// The caller must hold the lock. A call made by what resolve() itself runs goes straight to the
// MPI.
static void* resolve_or_reenter(int slot, const void* caller) {
  if (atomic_load(&stub_mpi.state) == kUnresolved) {
    atomic_store(&stub_mpi.state, kResolving);
    const bool done = resolve(slot, caller);
    // Without an MPI nothing is settled, because one may be opened before the next call.
    atomic_store_explicit(&stub_mpi.state, done ? kResolved : kUnresolved, memory_order_release);
    if (!done) return without_mpi(slot, caller);
  }
  return stub_resolved() ? target_of(slot, caller) : below[stub_call_of(slot)];
}

void* stub_resolve(int slot, const void* caller) {
  const int saved_errno = errno;
  void* target;
  if (stub_resolved()) {
    target = target_of(slot, caller);
  } else {
    pthread_mutex_lock(&stub_mpi.resolving);
    target = resolve_or_reenter(slot, caller);
    pthread_mutex_unlock(&stub_mpi.resolving);
  }
  errno = saved_errno;
  return target;
}
