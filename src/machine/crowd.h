// SPDX-License-Identifier: BSD-3-Clause
// Whether threads of this process wait for one another's processors.
#pragma once

#include <cstdint>

namespace sumac {

// Tells how many processors this process has for itself, which is one until it is known.
void set_own_processors(int processors);

// The threads of this process that run or want to, the caller's among them, as far as `enough`. 1
// where the kernel does not tell.
int count_runnable_threads(int enough);

// True where more threads of this process run or want to than it has processors of its own. Counts
// them now and then only: a count takes some microseconds for each thread, and at most one in sixty
// of the caller's time.
bool process_is_crowded(std::uint64_t now_ns);

}  // namespace sumac
