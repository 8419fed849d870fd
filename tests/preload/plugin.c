// SPDX-License-Identifier: BSD-3-Clause
// A library that uses MPI, opened by a program that does not.
#include "fake_mpi.h"

__attribute__((visibility("default"))) int plugin_calls(void);

int plugin_calls(void) { return MPI_Barrier(1) == FAKE_RESULT ? fake_calls : -1; }
