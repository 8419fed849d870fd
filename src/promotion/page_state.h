// SPDX-License-Identifier: BSD-3-Clause
// Finds out the size and the NUMA node of pages that a process has, and gives them to those that
// replace them.
#pragma once

#include <cstddef>

#include "promotion/range.h"

namespace sumac::promotion {

// Older systems' headers lack these values of advice to madvise().
inline constexpr int kPopulateWrite = 23, kDontneedLocked = 24, kCollapse = 25;

// Makes the pages of the file that will replace `old` come from the nodes of the pages there. The
// file remembers this, not a mapping of it. Does nothing on a machine with one node or if the
// kernel refuses.
void place_alike(const Range& old, int file);

// Returns true if private memory has huge pages without being asked.
bool private_memory_is_huge();

// Returns how many pages of anonymous memory exist. Nobody has used the others yet, or they are
// swapped out.
std::size_t touched_pages(const Range& range);

// Returns true if the beginning of a file of /proc or /sys has the word.
bool file_says(const char* path, const char* word);

}  // namespace sumac::promotion
