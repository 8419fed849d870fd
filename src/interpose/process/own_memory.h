// SPDX-License-Identifier: BSD-3-Clause
// The other ranks of the node may map this memory of the process, as SUMAC_PROMOTE says: what the
// MPI has shared (MPI_Win_allocate_shared), what is born shared (MPI_Alloc_mem), and what is
// promoted.
#pragma once

#include <cstddef>
#include <cstdint>

#include "interpose/stub/stub.h"
#include "observe/stats.h"
#include "transport/mapped_memory.h"

namespace sumac {

// Opens the memory, if it is not open. Returns true if there is any. It is opened when it is needed
// first: when a communicator is set up, or the program asks for such memory.
bool open_own_memory();
// Returns what peers must know of the memory.
FileIdentity own_memory_file();

// Takes over MPI_Win_allocate_shared and MPI_Win_free, to learn which memory the MPI shares.
void redirect_shared_windows(const sumac_stub& stub);
// Takes over MPI_Alloc_mem and MPI_Free_mem (alloc_mem.cc).
void redirect_alloc_mem(const sumac_stub& stub);

// Adds to the statistics what was born shared or promoted, and what was not.
void count_own_memory(Stats& stats);

// Returns true if buffers are used as they are where XPMEM shows them (attachable.h).
bool attaches();
// Returns true if buffers are promoted.
bool promotes();
// Returns true if buffers are promoted at their first use, whatever that gains.
bool promotes_always();
// Returns true if the byte lies in memory that the MPI has shared or that is born shared.
bool lies_in_shared_memory(const void* address);
// Counts a use of a buffer by a collective, which takes `gain_ns` less if the buffer is promoted,
// and promotes it if that pays by now, unless its memory is seen in another way; `all_seen` says
// that the others see all memory that can be attached. Nobody may write to the buffer meanwhile.
// Returns true if the others see it.
bool use_own_memory(const void* address, std::size_t bytes, double gain_ns, bool all_seen);
// Counts the time of a call whose buffers could have been promoted.
void note_call_time(std::uint64_t ns);
// Must stand around an operation in which the others may reach into the buffers: use_own_memory()
// comes after begin_use_of_own_memory().
void begin_use_of_own_memory();
void end_use_of_own_memory();

// Must be called now and then, also while there are small calls only, if buffers are promoted:
// looks for what forbids direct memory, and gives back what the program has freed.
void tend_own_memory();
// Must be called when the MPI has ended and no rank reaches into this process any more.
void end_own_memory();

}  // namespace sumac
