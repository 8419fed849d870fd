// SPDX-License-Identifier: BSD-3-Clause
// The known name nearest to a misspelt one, for messages that say "did you mean". In C, for
// options; rules, hierarchies and names of algorithms use it too.
#pragma once

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

// The one of `count` known names nearest to `name` (of `length` characters, in any case), or NULL
// when none is near. Distance is the number of letters to insert, delete or replace, and of
// neighbours to swap; near is less than one such edit in three letters, and one more.
const char* sumac_nearest(const char* name, size_t length, const char* const* known, size_t count);

#ifdef __cplusplus
}
#endif
