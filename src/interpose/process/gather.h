// SPDX-License-Identifier: BSD-3-Clause
// SUMAC_STATS asks for this report, of this rank or of all.
#pragma once

#include <vector>

#include "observe/report.h"

namespace sumac {

// Notes that all ranks of the job have agreed, when a communicator was set up, to report together.
// Otherwise the job would wait in vain for a rank without Sumac, or one that was not asked.
void note_agreed_reports();

// Writes what SUMAC_STATS asks for of this rank alone, without the MPI, if the program ends by
// `end` instead of MPI_Finalize.
void report_alone(const RankReport& own, int rank, int size, const char* end);

// Writes the file, if SUMAC_STATS names one.
void report_in_file(const RankReport& own, int size, const char* end);

// Writes what SUMAC_STATS asks for, in MPI_Finalize. Collective if it asks for all ranks: waits at
// most some seconds for the others.
void report_statistics(const RankReport& own);

}  // namespace sumac
