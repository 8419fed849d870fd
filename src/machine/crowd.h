// SPDX-License-Identifier: BSD-3-Clause
// These functions tell whether threads of this process wait for one another's processors.
#pragma once

#include <cstdint>

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

}  // namespace sumac
