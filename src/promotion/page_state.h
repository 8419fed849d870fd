// SPDX-License-Identifier: BSD-3-Clause
// Finds out the size and the NUMA node of pages that a process has, and gives them to those that
// replace them.
#pragma once

#include <cstddef>

#include "promotion/memory_file.h"
#include "promotion/range.h"

namespace sumac::promotion {

// Older systems' headers lack these values of advice to madvise().
inline constexpr int kPopulateWrite = 23, kDontneedLocked = 24, kCollapse = 25;

// Makes the pages of the file that will replace `old` come from the nodes of the pages there. The
// file remembers this, not a mapping of it. Does nothing on a machine with one node or if the
// kernel refuses.
void place_alike(const MemoryFile& file, const Range& old);

// Returns true if make_huge_alike() can find out which pages are huge.
bool can_scan_pages();

// Makes those parts of `place` huge pages that are huge in `old`, or all that can be. `place` and
// the file's offset are congruent to `old` modulo 2 MiB. Returns the bytes for which this
// succeeded. It works even if shmem_enabled is "never" (MADV_COLLAPSE, Linux 6.1).
std::size_t make_huge_alike(const Range& old, std::byte* place, bool all);

}  // namespace sumac::promotion
