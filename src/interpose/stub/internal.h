// SPDX-License-Identifier: BSD-3-Clause
// The files of the stub share this. None of it is exported: see the version script.
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "interpose/stub/stub.h"

// --- objects.c ---
// The loaded objects of the process are the program and its libraries.
struct object {
  char* name;           // "" for the program itself
  uintptr_t low, high;  // addresses where it is mapped
};

struct objects {
  struct object* items;
  size_t count, capacity;
};

// Lists what is loaded now. The loader's lock is only held while names are copied: dlopen() must be
// called after that, since the two take locks in opposite order.
struct objects stub_list_objects(void);
void stub_free_objects(struct objects* all);

// Returns how many objects have been loaded so far, those included that are gone again.
unsigned long long stub_objects_loaded(void);

static inline bool object_holds(const struct object* object, const void* address) {
  return (uintptr_t)address >= object->low && (uintptr_t)address < object->high;
}
// Returns the object that an address is in, or NULL.
const struct object* stub_object_at(const struct objects* all, const void* address);

// Returns a handle of dlopen(), which the caller closes; NULL if the object has gone.
void* stub_open_object(const struct object* object);

// Returns what the name means in the scope of that object alone, or NULL.
void* stub_symbol_of_object(const struct object* object, const char* name);

// Returns true for addresses in libsumac.so itself.
bool stub_is_own(const void* address);

#pragma GCC visibility push(default)
#include "sumac/sumac.h"
#pragma GCC visibility pop

// --- trampolines.S ---
// Every name has a slot: MPI_X has the one of its number in sumac_call; after these come the other
// names of calls.def, and from kPublicSlots on the PMPI_X.
enum stub_slot {
  kBeforeOtherNames = SUMAC_NUM_CALLS - 1,
#define SUMAC_CALL(name)
#define SUMAC_OTHER_NAME(other, name) kSlotOf##other,
#include "interpose/calls.def"
#undef SUMAC_CALL
  kPublicSlots,
  kSlots = kPublicSlots + SUMAC_NUM_CALLS
};
// The names jump to these addresses.
extern _Atomic(void*) stub_slots[kSlots];
// At first a slot has this: the entry that calls stub_resolve().
extern void* const stub_lazy_entries[kSlots];

// --- slots.c ---
extern const char* const stub_call_names[SUMAC_NUM_CALLS];  // "MPI_Allreduce"
int stub_call_of(int slot);
enum { kLongestName = 64 };
// Writes the name of a slot and returns the text.
const char* stub_name(char text[kLongestName], int slot);

// --- find_mpi.c ---
struct mpi_library {
  void* handle;
  char* path;  // from malloc; kProgramItself for an MPI in the program itself
  uintptr_t low, high;
};
extern const char kProgramItself[];
extern const char kMpiMark[];  // a function that only MPIs define

// Finds the loaded object that itself defines kMpiMark, whatever its file is called. If there are
// several, it finds the one that code at address `caller` would have called. Returns false if there
// is none, or if the function `called` (unless NULL) belongs to a library that is no MPI.
bool stub_find_mpi(struct mpi_library* mpi, const void* caller, const char* called);
void stub_forget_mpi(struct mpi_library* mpi);
bool stub_is_of_mpi(const struct mpi_library* mpi, const void* address);
// Returns true also if the address belongs to another MPI, of which the process may have several.
bool stub_is_of_any_mpi(const struct mpi_library* mpi, const void* address);

// Returns the next definition of the name behind Sumac in the order in which the loader searches: a
// call would reach it without Sumac, unless that is in a library opened RTLD_LOCAL. Returns NULL if
// there is none.
void* stub_behind(const char* name);

// Looks the name up in the MPI. Returns NULL also if Sumac itself defines it.
void* stub_symbol(void* mpi, const char* name);

// Returns true if calls of an MPI function are bound to Sumac's name for it, not to the MPI's.
bool stub_intercepts(void);

// Returns the MPI's own function behind an intercepted call, or NULL if the MPI lacks it.
void* stub_real_function(void* mpi, int call);

// Returns "openmpi", "mpich", "mpiabi", or NULL for an MPI of an unknown binary interface.
const char* stub_family(void* mpi);

// --- resolve.c ---
// This is the process's MPI, once it has been found, and its own functions.
enum stub_state { kUnresolved, kResolving, kResolved };
struct stub_mpi {
  // The mutex is recursive, because opening a back end may run code that calls MPI_X in this
  // thread. Other threads wait: their calls must take the way that this process will take from then
  // on, or the ranks of a collective would not all take the same.
  pthread_mutex_t resolving;
  atomic_int state;
  struct mpi_library library;
  void* functions[SUMAC_NUM_CALLS];  // NULL: the MPI lacks it
};
extern struct stub_mpi stub_mpi;
// Returns the MPI's function, looked up when first needed; NULL if the MPI lacks it or there is no
// MPI.
void* stub_native(int call, const void* caller);
// Returns another function of the MPI that has been found, by its whole name.
void* stub_mpi_function(const char* symbol);
bool stub_resolved(void);
// Returns true once an intercepted call has found an MPI.
bool stub_was_called(void);

// The lazy entries call this: it decides, once per process, where every slot points, and returns
// where this call goes on.
void* stub_resolve(int slot, const void* caller);

// --- callers.c ---
// Returns where a call from `address` goes that the global scope does not decide; NULL for the
// functions that serve calls to `mpi`.
void* stub_target_for(const struct mpi_library* mpi, int slot, const void* address);

// --- passing.c ---
// `before` has what stands before the MPI, by slot.
//
// Returns the file of a tool that takes collectives past Sumac, or NULL.
const char* stub_collectives_pass_by(void* const* before);
// Returns true if a function that completes requests may be called past Sumac.
bool stub_requests_pass_by(struct mpi_library* mpi, void* const* before);
// Returns true for the calls that are no collectives and give the program a request.
bool stub_gives_request(int call);

// --- backend.c ---
// Finds the directory of libsumac.so, in a buffer of PATH_MAX.
bool stub_own_directory(char* directory);
// Opens libsumac-<family>.so and starts it. If that fails, warns and returns false, and nothing is
// redirected.
bool stub_start_backend(const struct sumac_stub* stub);
// Returns a function of the back end that has been started; NULL if there is no back end.
void* stub_backend_function(const char* name);

// --- absent.c, large_count.c, request_status.c ---
// Returns the target of a slot if neither the MPI nor the back end has the function: an equivalent
// over the MPI's other functions if there is one, otherwise a function that reports an error and
// returns one.
void* stub_substitute(int call, const struct sumac_stub* stub);
void* stub_absent(int call);
void* stub_large_count(int call, void* const* real);
void* stub_request_status(int call, const struct sumac_stub* stub);

// --- memory_calls.c ---
int stub_catch_memory_calls(const struct sumac_memory_calls* calls);

// --- warn.c ---
// Writes a line "sumac: warning[slug]: ..." on standard error, from the first rank of the job,
// unless SUMAC_DEBUG=off.
void stub_warn(const char* slug, const char* format, ...) __attribute__((format(printf, 2, 3)));
// Writes a line "sumac: error[slug]: ...", from every rank and at every level of SUMAC_DEBUG.
void stub_error(const char* slug, const char* format, ...) __attribute__((format(printf, 2, 3)));
// The linker makes it the library's DT_FINI.
void stub_at_exit(void);
