// SPDX-License-Identifier: BSD-3-Clause
// This memory is shared from its beginning: the program asks for it (MPI_Alloc_mem), and gets pages
// of the file of promoted memory. Nobody holds these pages yet, no device and no library, so
// nothing is replaced under anyone. Otherwise it is promoted memory like any other: peers see it
// through their windows, and fork, madvise and mremap keep their meaning.
//
// Idea   A free range of addresses is mapped to the same range of the file. So the kernel chooses
//        the place, and joins neighbours to one mapping
// Cost   Three system calls to allocate and two to free, and no page before it is used. A fork
//        copies the memory (fork_copies.cc). Pages are of 4 KiB if the system does not make those
//        of shared memory large; those of buffers that are used again and again are made large
//        where private memory would have large ones
// Needs  The file (open() in promotion.h); nothing of what promotion needs beyond it
//
// The table of such memory is searched without a lock, by those who use buffers. An entry that is
// changed meanwhile may seem to hold a buffer that it does not: mapped() has the last word.
#pragma once

#include <cstddef>
#include <cstdint>

#include "promotion/range.h"

namespace sumac::promotion {

// Less than this is not served: no call of fewer bytes reaches into buffers.
inline constexpr std::size_t kLeastBorn = std::size_t{64} << 10;
// A process has at most so many, which leaves nine tenths of its mappings to others
// (vm.max_map_count).
inline constexpr std::size_t kMostBorn = 4096;
inline constexpr std::size_t kMostBornAlignment = std::size_t{2} << 20;

// Returns zeroed memory of `bytes` bytes at a multiple of `alignment`, a power of two. Returns null
// if it cannot be had, or would cost the program something: without huge pages where private memory
// has them, or where the kernel would not refuse but end the program.
void* allocate_shared(std::size_t bytes, std::size_t alignment);
// Gives it back. Returns false if this is not the beginning of such memory.
bool free_shared(void* address);

// Returns true if the buffer lies in one piece of such memory.
bool is_born_shared(const void* address, std::size_t bytes);
// Returns true if some of it does.
bool overlaps_born_shared(const Range& range);
// Must be called before peers reach into such a buffer: their stores would bring its pages into
// being on their own NUMA nodes. Does nothing for a buffer for which it was called before, but that
// it makes pages huge in one of its later calls. Any thread may write to the buffer meanwhile.
// Returns false if there is no memory for the pages.
bool prepare_shared(const void* address, std::size_t bytes);

}  // namespace sumac::promotion
