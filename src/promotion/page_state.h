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

// Makes those parts of `place` huge pages that can be. `place` and the file's offset are congruent
// to `old` modulo 2 MiB. Returns the bytes for which this succeeded. It works even if shmem_enabled
// is "never" (MADV_COLLAPSE, Linux 6.1).
std::size_t make_huge(const Range& old, std::byte* place);

// Returns true if private memory has huge pages without being asked.
bool private_memory_is_huge();

// Returns true if more than half of the range's pages do not exist: nobody has used them yet, or
// they are swapped out. The range is anonymous memory.
bool mostly_untouched(const Range& range);

// Returns true if the beginning of a file of /proc or /sys has the word.
bool file_says(const char* path, const char* word);

}  // namespace sumac::promotion
