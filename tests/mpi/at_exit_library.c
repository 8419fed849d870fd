// SPDX-License-Identifier: BSD-3-Clause
// A library whose destructor calls a function of the program (at_exit.cc).
#include <mpi.h>
#include <stddef.h>

void at_exit_library_calls(void (*end)(void));

static void (*at_end)(void);

void at_exit_library_calls(void (*end)(void)) { at_end = end; }

__attribute__((destructor)) static void unload(void) {
  int finalized = 0;
  if (at_end == NULL) return;
  MPI_Finalized(&finalized);
  if (!finalized) at_end();
}
