// SPDX-License-Identifier: BSD-3-Clause
// These functions say what the loaded objects refer to by name, and what the loader has bound it
// to.
#pragma once

#include <stdbool.h>
#include <stddef.h>

// This is called for a reference to a function of MPI's. `bound` is where a call by it would go,
// or, as long as the loader has not bound it, somewhere in the object itself.
typedef bool (*reference_fn)(const char* name, const void* bound, void* context);

// Asks about the references of the object that `address` is in. Returns true at the first one for
// which `ask` does.
bool stub_refers(const void* address, reference_fn ask, void* context);

// Does the same for all objects, except for the one that `except` is in and libsumac.so.
bool stub_any_refers(const void* except, reference_fn ask, void* context);
