// SPDX-License-Identifier: BSD-3-Clause
// The loaded objects of the process are the program and its libraries.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
