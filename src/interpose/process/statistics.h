// SPDX-License-Identifier: BSD-3-Clause
// SUMAC_STATS asks for a report, of this rank or of all, or for word that there can be none.
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

// Tells that there are no statistics if SUMAC_STATS prints them and the process ends in a way that
// nothing in it can see: by _exit(), abort() or a signal. A small shell waits until this process
// has let go of a pipe. Must be called on the rank that prints.
void watch_end(int rank);
// Must be called when the statistics have been printed.
void end_is_told();

}  // namespace sumac
