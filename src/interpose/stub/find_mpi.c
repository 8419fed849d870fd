// SPDX-License-Identifier: BSD-3-Clause
// Finds the MPI among the objects of the process. An object opened RTLD_LOCAL (as mpi4py opens its
// MPI) is in no scope that dlsym(RTLD_NEXT) searches, so all loaded objects are looked through.
#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "interpose/stub/internal.h"

struct object {
  char* name;           // "" for the program itself
  uintptr_t low, high;  // where it is mapped
};

struct objects {
  struct object* items;
  size_t count, capacity;
};

const char kProgramItself[] = "/proc/self/exe";

static const char kMark[] = "PMPI_Get_version";  // every MPI has it, and no tool redefines it

static bool holds(const struct object* object, const void* address) {
  return (uintptr_t)address >= object->low && (uintptr_t)address < object->high;
}

static int note_object(struct dl_phdr_info* info, size_t size, void* context) {
  (void)size;
  struct objects* all = context;
  if (all->count == all->capacity) {
    const size_t capacity = all->capacity == 0 ? 64 : 2 * all->capacity;
    struct object* items = realloc(all->items, capacity * sizeof *items);
    if (items == NULL) return 1;
    all->items = items;
    all->capacity = capacity;
  }
  struct object object = {strdup(info->dlpi_name), UINTPTR_MAX, 0};
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)* header = &info->dlpi_phdr[i];
    if (header->p_type != PT_LOAD) continue;
    const uintptr_t start = info->dlpi_addr + header->p_vaddr;
    if (start < object.low) object.low = start;
    if (start + header->p_memsz > object.high) object.high = start + header->p_memsz;
  }
  if (object.name == NULL) return 1;
  all->items[all->count++] = object;
  return 0;
}

static void free_objects(struct objects* all) {
  for (size_t i = 0; i < all->count; ++i) free(all->items[i].name);
  free(all->items);
}

static void* open_loaded(const struct object* object) {
  if (object->name[0] == '\0') return dlopen(NULL, RTLD_LAZY);
  return dlopen(object->name, RTLD_NOLOAD | RTLD_LAZY);
}

static bool is_mpi(const struct object* object) {
  void* handle = open_loaded(object);
  if (handle == NULL) return false;
  const void* mark = dlsym(handle, kMark);  // searches the object's dependencies too
  dlclose(handle);
  return mark != NULL && holds(object, mark);
}

// Chooses among several MPIs the one to which the caller's reference would have been bound: that of
// the global scope, else that among the caller's own dependencies, else the first one loaded.
static const struct object* choose(const struct objects* all, const void* caller) {
  const void* mark = dlsym(RTLD_DEFAULT, kMark);
  for (size_t i = 0; mark == NULL && i < all->count; ++i) {
    if (!holds(&all->items[i], caller)) continue;
    void* handle = open_loaded(&all->items[i]);
    if (handle == NULL) continue;
    mark = dlsym(handle, kMark);
    dlclose(handle);
  }
  for (size_t i = 0; mark != NULL && i < all->count; ++i) {
    if (holds(&all->items[i], mark)) return &all->items[i];
  }
  for (size_t i = 0; i < all->count; ++i) {
    if (is_mpi(&all->items[i])) return &all->items[i];
  }
  return NULL;
}

bool stub_find_mpi(struct mpi_library* mpi, const void* caller) {
  // Only names are gathered under the loader's lock; dlopen follows later, since the two take locks
  // in opposite order.
  struct objects all = {NULL, 0, 0};
  dl_iterate_phdr(note_object, &all);
  const struct object* object = choose(&all, caller);
  mpi->handle = object != NULL ? open_loaded(object) : NULL;
  mpi->path = NULL;
  if (mpi->handle != NULL) {
    mpi->path = strdup(object->name[0] != '\0' ? object->name : kProgramItself);
  }
  free_objects(&all);
  return mpi->path != NULL;
}

void stub_forget_mpi(struct mpi_library* mpi) {
  dlclose(mpi->handle);
  free(mpi->path);
}

static bool is_own(const void* symbol) {
  Dl_info found, own;
  return dladdr(symbol, &found) != 0 && dladdr(kMark, &own) != 0 &&
         found.dli_fbase == own.dli_fbase;
}

void* stub_symbol(void* mpi, const char* name) {
  void* symbol = dlsym(mpi, name);
  // A handle of the program itself searches the global scope, where Sumac's names come first.
  return symbol != NULL && is_own(symbol) ? NULL : symbol;
}

bool stub_intercepts(void) {
  const void* symbol = dlsym(RTLD_DEFAULT, "PMPI_Op_free");
  return symbol != NULL && is_own(symbol);
}

static bool ends_with(const char* text, const char* end) {
  const size_t length = strlen(text), end_length = strlen(end);
  return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

void* stub_real_function(void* mpi, int call) {
  char name[64] = "P";
  const char* public_name = stub_call_names[call];
  strncat(name, public_name, sizeof name - 2);
  void* function = stub_symbol(mpi, name);
  if (function == NULL) function = stub_symbol(mpi, public_name);
  if (function == NULL && ends_with(public_name, "_init")) {
    // Open MPI 4 has the persistent collectives under the names they had before MPI 4.0.
    strcpy(name, "PMPIX_");
    strncat(name, public_name + strlen("MPI_"), sizeof name - 7);
    function = stub_symbol(mpi, name);
  }
  return function;
}
