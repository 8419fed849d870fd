// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/stub/internal.h"

#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

// The linker defines both. They are the first and the last address of this library.
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char _end[] __attribute__((visibility("hidden")));

bool stub_is_own(const void* address) {
  return (const char*)address >= __ehdr_start && (const char*)address < _end;
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

struct objects stub_list_objects(void) {
  struct objects all = {NULL, 0, 0};
  dl_iterate_phdr(note_object, &all);
  return all;
}

void stub_free_objects(struct objects* all) {
  for (size_t i = 0; i < all->count; ++i) free(all->items[i].name);
  free(all->items);
}

static int note_loaded(struct dl_phdr_info* info, size_t size, void* loaded) {
  (void)size;
  *(unsigned long long*)loaded = info->dlpi_adds;
  return 1;
}

unsigned long long stub_objects_loaded(void) {
  unsigned long long loaded = 0;
  dl_iterate_phdr(note_loaded, &loaded);
  return loaded;
}

const struct object* stub_object_at(const struct objects* all, const void* address) {
  for (size_t i = 0; i < all->count; ++i) {
    if (object_holds(&all->items[i], address)) return &all->items[i];
  }
  return NULL;
}

void* stub_open_object(const struct object* object) {
  if (object->name[0] == '\0') return dlopen(NULL, RTLD_LAZY);
  return dlopen(object->name, RTLD_NOLOAD | RTLD_LAZY);
}

void* stub_symbol_of_object(const struct object* object, const char* name) {
  void* handle = stub_open_object(object);
  if (handle == NULL) return NULL;
  void* symbol = dlsym(handle, name);
  dlclose(handle);
  return symbol != NULL && stub_is_own(symbol) ? NULL : symbol;
}
