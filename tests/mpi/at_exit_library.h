// SPDX-License-Identifier: BSD-3-Clause
// A library with a destructor.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

// The library calls `end` when it is unloaded, unless MPI has been finalised by then.
void at_exit_library_calls(void (*end)(void));

#ifdef __cplusplus
}
#endif
