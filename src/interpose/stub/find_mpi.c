// SPDX-License-Identifier: BSD-3-Clause
// Finds the MPI among the objects of the process. An object opened RTLD_LOCAL (as mpi4py opens its
// MPI) is in no scope that dlsym(RTLD_NEXT) searches, so the search goes through all loaded
// objects. Also finds its binary interface, which says what its handles and constants are.
#include <dlfcn.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "interpose/stub/internal.h"

// MPICH 5's libmpi.so.12 has the function too, and then returns version -1.
static bool has_standard_abi(void* mpi) {
  int (*abi_version)(int*, int*) = (int (*)(int*, int*))stub_symbol(mpi, "PMPI_Abi_get_version");
  if (abi_version == NULL) {
    abi_version = (int (*)(int*, int*))stub_symbol(mpi, "MPI_Abi_get_version");
  }
  int major = -1, minor = -1;
  return abi_version != NULL && abi_version(&major, &minor) == 0 && major > 0;
}

// MPICH 3 and later and its derivatives (Intel, MVAPICH, Cray) export these extensions, but Open
// MPI does not.
static bool is_mpich(void* mpi) {
  static const char* const marks[] = {"PMPIX_Grequest_start", "MPIX_Grequest_start",
                                      "MPIR_Err_return_comm", "MPIR_Dup_fn"};
  for (size_t i = 0; i < sizeof marks / sizeof marks[0]; ++i) {
    if (stub_symbol(mpi, marks[i]) != NULL) return true;
  }
  return false;
}

const char* stub_family(void* mpi) {
  if (has_standard_abi(mpi)) return "mpiabi";
  if (stub_symbol(mpi, "ompi_mpi_comm_world") != NULL) return "openmpi";
  if (is_mpich(mpi)) return "mpich";
  return NULL;
}

const char kProgramItself[] = "/proc/self/exe";

const char kMpiMark[] = "PMPI_Get_version";  // every MPI has it, and no tool redefines it

static bool is_mpi(const struct object* object) {
  const void* mark = stub_symbol_of_object(object, kMpiMark);  // also searches its dependencies
  return mark != NULL && object_holds(object, mark);
}

// Returns the MPI to which a reference of the object would have been bound: that of the global
// scope, or else that among the object's own dependencies.
static const struct object* bound_mpi(const struct objects* all, const struct object* from) {
  const void* mark = dlsym(RTLD_DEFAULT, kMpiMark);
  if (mark == NULL && from != NULL) mark = stub_symbol_of_object(from, kMpiMark);
  return mark != NULL ? stub_object_at(all, mark) : NULL;
}

static const struct object* first_mpi(const struct objects* all) {
  for (size_t i = 0; i < all->count; ++i) {
    if (is_mpi(&all->items[i])) return &all->items[i];
  }
  return NULL;
}

// This is the number of objects loaded when no MPI was among them: serial programs with functions
// of MPI's names may call them often.
static _Atomic(unsigned long long) without_mpi;

static const struct object* choose(const struct objects* all, const void* caller,
                                   const char* called) {
  const struct object* from = stub_object_at(all, caller);
  const struct object* mpi = bound_mpi(all, from);
  if (mpi != NULL) return mpi;
  // The call is bound to a library that is no MPI, and an MPI in another scope is none of its
  // business.
  if (called != NULL && (stub_behind(called) != NULL ||
                         (from != NULL && stub_symbol_of_object(from, called) != NULL))) {
    return NULL;
  }
  return first_mpi(all);
}

bool stub_find_mpi(struct mpi_library* mpi, const void* caller, const char* called) {
  const unsigned long long loaded = stub_objects_loaded();
  mpi->handle = mpi->path = NULL;
  if (loaded != 0 && loaded == atomic_load(&without_mpi)) return false;
  struct objects all = stub_list_objects();
  const struct object* object = choose(&all, caller, called);
  if (object != NULL) {
    mpi->handle = stub_open_object(object);
    mpi->low = object->low;
    mpi->high = object->high;
  }
  if (mpi->handle != NULL) {
    mpi->path = strdup(object->name[0] != '\0' ? object->name : kProgramItself);
  } else if (first_mpi(&all) == NULL) {
    atomic_store(&without_mpi, loaded);
  }
  stub_free_objects(&all);
  return mpi->path != NULL;
}

void stub_forget_mpi(struct mpi_library* mpi) {
  dlclose(mpi->handle);
  free(mpi->path);
}

bool stub_is_of_mpi(const struct mpi_library* mpi, const void* address) {
  return (uintptr_t)address >= mpi->low && (uintptr_t)address < mpi->high;
}

bool stub_is_of_any_mpi(const struct mpi_library* mpi, const void* address) {
  Dl_info object, other;
  if (stub_is_of_mpi(mpi, address)) return true;
  if (address == NULL || dladdr(address, &object) == 0) return false;
  void* handle = dlopen(object.dli_fname, RTLD_NOLOAD | RTLD_LAZY);
  if (handle == NULL) return false;
  const void* mark = dlsym(handle, kMpiMark);  // also searches its dependencies
  dlclose(handle);
  return mark != NULL && dladdr(mark, &other) != 0 && other.dli_fbase == object.dli_fbase;
}

void* stub_behind(const char* name) {
  void* symbol = dlsym(RTLD_NEXT, name);
  return symbol != NULL && stub_is_own(symbol) ? NULL : symbol;
}

void* stub_symbol(void* mpi, const char* name) {
  void* symbol = dlsym(mpi, name);
  // A handle of the program itself searches the global scope, where Sumac's names come first.
  return symbol != NULL && stub_is_own(symbol) ? NULL : symbol;
}

bool stub_intercepts(void) {
  const void* symbol = dlsym(RTLD_DEFAULT, "PMPI_Op_free");
  return symbol != NULL && stub_is_own(symbol);
}

static bool ends_with(const char* text, const char* end) {
  const size_t length = strlen(text), end_length = strlen(end);
  return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

void* stub_real_function(void* mpi, int call) {
  char name[kLongestName];
  const char* public_name = stub_name(name, kPublicSlots + call) + 1;
  void* function = stub_symbol(mpi, name);
  if (function == NULL) function = stub_symbol(mpi, public_name);
  if (function == NULL && ends_with(public_name, "_init")) {
    // Open MPI 4 has the persistent collectives under the names they had before MPI 4.0.
    char older[kLongestName] = "PMPIX_";
    strncat(older, public_name + strlen("MPI_"), sizeof older - strlen("PMPIX_") - 1);
    function = stub_symbol(mpi, older);
  }
  return function;
}
