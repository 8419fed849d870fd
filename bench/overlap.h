// SPDX-License-Identifier: BSD-3-Clause
// How much of a call can be overlapped with computation, measured as in the OSU micro-benchmarks:
// start, compute for as long as start and wait take alone, wait. The time beyond that of the
// computation was not overlapped.
//
// The computation is also timed without a call, in turns with the other measurements. So work of a
// helper thread on the rank's own core is not counted as overlapped, because it makes the
// computation longer, and neither is the time in MPI_Test; a late wake-up from idle time cancels
// out.
#pragma once

#include <vector>

#include "call.h"
#include "measure.h"
#include "options.h"
#include "results.h"

namespace sumac::bench {

// Collective. Returns results in the order of the calls, which must not be blocking. `alone` is the
// time of each call in microseconds. Only rank 0 gets the results.
std::vector<Overlaps> measure_overlap(const std::vector<RepeatedCall*>& calls,
                                      const std::vector<double>& alone, const Setting& setting,
                                      const Options& options);

}  // namespace sumac::bench
