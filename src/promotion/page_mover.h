// SPDX-License-Identifier: BSD-3-Clause
// Moves private pages into the file of promoted memory, in place. The program's addresses and data
// stay, and, if possible, the size of pages and their NUMA nodes.
//
// Idea: pages of the file are mapped elsewhere, filled with a copy, and put over the old ones by
// one mremap(), which other threads see as one step. What another thread wrote to the old pages
// after the copy would be lost: so only whole pages of a buffer move that the MPI standard forbids
// everybody to write during the call.
// Cost: 1 to 2 us for each 4-KiB page, most of it the kernel's zeroing and mapping of new pages.
// Memory: the pages of one chunk exist twice.
// Needs: private anonymous memory, readable and writable; nothing in the file at these offsets that
// is still in use.
#pragma once

#include "promotion/range.h"
#include "promotion/service.h"

namespace sumac::promotion {

inline constexpr int kMostPieces = 16;

// Admission decides which parts of a range are to be moved, or why none may be.
struct Admission {
  struct Piece : Range {
    bool huge = false;  // its pages are huge, or should be
  };
  Refusal refusal = Refusal::none;
  int count = 0;
  Piece pieces[kMostPieces];  // those that are not promoted yet
};
// Examines every mapping in the range, as the kernel describes it now, by one reading of smaps up
// to the end of the range: 5 to 10 us for each mapping below that, and some 10 ns for each of their
// pages. Nothing that was read before is trusted: a mapping may be a new one, or have become
// special by calls that nobody has seen.
//
// The main thread's stack ([stack]) is refused, whatever the calling thread runs on, and so are the
// threads' stacks that the C library maps. In the child of a fork the copies are made by code that
// runs on a stack, which must not be replaced under it. A stack that a program made itself, in
// memory that another thread uses as a buffer, is not recognised; the child of a fork that runs on
// it ends with a message.
Admission admit(Service& service, const Range& range);

// Reserves a place for so many bytes, at an address with the same remainder by `unit`, a power of
// two, as `phase` has. Returns an empty range if there is no room.
Range reserve(AddressSpace& kernel, std::size_t bytes, std::size_t unit, std::uintptr_t phase = 0);

// Makes those parts of the range huge pages that can be. The offset in the file is congruent to
// addresses modulo 2 MiB. Returns the bytes for which this succeeded. It works even if
// shmem_enabled is "never" (MADV_COLLAPSE, Linux 6.1).
std::size_t make_huge(AddressSpace& kernel, const Range& range);

// Moves a chunk of whole pages. Returns false, and leaves the old pages in place, if the kernel has
// no memory or refuses. Adds to `huge_bytes`.
bool move_chunk(Service& service, const Range& chunk, bool huge, std::size_t& huge_bytes);

}  // namespace sumac::promotion
