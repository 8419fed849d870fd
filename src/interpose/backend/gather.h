// SPDX-License-Identifier: BSD-3-Clause
// The report that SUMAC_STATS asks for, of this rank or of all.
#pragma once

#include <vector>

#include "observe/report.h"

namespace sumac {

// All ranks of the job have agreed to report together, when a communicator was set up. A rank
// without Sumac, or that was not asked, would be waited for in vain.
void note_agreed_reports();

// Tells what SUMAC_STATS asks for, in MPI_Finalize. Collective where it asks for all ranks: waits
// for at most some seconds for the others.
void report_statistics(const RankReport& own);

}  // namespace sumac
