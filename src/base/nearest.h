// SPDX-License-Identifier: BSD-3-Clause
// Finds the known name nearest to a misspelt one, for messages that say "did you mean". The file is
// in C for the options; rules, hierarchies and names of algorithms use it too.
#pragma once

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

// Returns that one of `count` known names which is nearest to `name` (of `length` characters, in
// any case), or NULL if none is near. The distance is the number of letters to insert, delete or
// replace, and of neighbours to swap. A name is near if that is at most a third of its letters,
// rounded up, and less than all of them.
const char* sumac_nearest(const char* name, size_t length, const char* const* known, size_t count);

#ifdef __cplusplus
}
#endif
