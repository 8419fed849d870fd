// SPDX-License-Identifier: BSD-3-Clause
// What SUMAC_STATS prints at MPI_Finalize.
#pragma once

#include "observe/stats.h"

namespace sumac {

// A table on standard error.
void print_report(const Stats& stats, int rank, int size);

// The same as JSON in a file. False when it cannot be written.
bool write_report(const char* path, const Stats& stats, int rank, int size);

}  // namespace sumac
