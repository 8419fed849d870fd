// SPDX-License-Identifier: BSD-3-Clause
// How much of a call the ranks can compute through, as the OSU micro-benchmarks ask: start, compute
// for as long as start and wait take alone, wait; whatever this takes beyond the computation was
// not overlapped.
//
// The computation is also timed without a call, by the same turns as all else. So work that a
// helper thread does on the rank's own core is not counted as overlapped (the computation takes
// longer by it), and neither is the time in MPI_Test; a late awakening from idleness cancels out.
#pragma once

#include <vector>

#include "call.h"
#include "options.h"
#include "results.h"
#include "setting.h"

namespace sumac::bench {

// Collective. In the order of the calls, which are not blocking; `alone` is what each takes, in
// microseconds. The figures are there on rank 0 only.
std::vector<Overlaps> measure_overlap(const std::vector<Call*>& calls,
                                      const std::vector<double>& alone, const Setting& setting,
                                      const Options& options);

}  // namespace sumac::bench
