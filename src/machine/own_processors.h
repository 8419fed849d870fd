// SPDX-License-Identifier: BSD-3-Clause
// These functions tell how many processors a rank has for itself, and whether its threads wait for
// one another's.
#pragma once

#include <cstdint>
#include <vector>

#include "machine/machine.h"

namespace sumac {

// Tells how many processors this process has for itself. Until it is called, the process has one.
void set_own_processors(int processors);

// Counts the threads of this process that run or want to, the caller's among them, and stops at
// `enough`. Returns 1 if the kernel does not tell.
int count_runnable_threads(int enough);

// Returns true if more threads of this process run or want to than it has processors of its own. It
// counts only now and then: a count takes some microseconds for each thread, and counts take at
// most one part in sixty of the caller's time.
bool process_is_crowded(std::uint64_t now_ns);

// This function tells how many of its processors a rank has for itself.

// Returns the part (0 to 1) of the processors `own` that a rank has if each processor is divided
// evenly among the ranks that may run on it. These are the `others` of its machine, and `unknown`
// ranks about which nothing is known. The latter are taken to run on all of `own`, unless the known
// ranks share no processor, which shows that ranks are bound.
double share_of_processors(const CpuMask& own, const std::vector<CpuMask>& others, int unknown);

}  // namespace sumac
