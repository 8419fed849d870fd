// SPDX-License-Identifier: BSD-3-Clause
// The other ranks of the node may map this memory of the process, as SUMAC_PROMOTE says.
#pragma once

#include <cstddef>
#include <cstdint>

#include "interpose/stub/stub.h"
#include "observe/stats.h"
#include "transport/mapped_memory.h"

namespace sumac {

// Must be called once, before communicators are set up.
void open_own_memory(const sumac_stub& stub);
// Returns what peers must know of the memory.
FileIdentity own_memory_file();

// Takes over MPI_Win_allocate_shared and MPI_Win_free, to learn which memory the MPI shares.
void redirect_shared_windows(const sumac_stub& stub);

// Adds to the statistics what was promoted, and what was not.
void count_own_memory(Stats& stats);

// Returns true if buffers are promoted at their first use, whatever that gains.
bool promotes_always();
// Counts a use of a buffer by a collective, which takes `gain_ns` less if the buffer is promoted,
// and promotes it if that pays by now, unless the MPI has shared its memory. Nobody may write to
// the buffer meanwhile. Returns true if the others see it.
bool use_own_memory(const void* address, std::size_t bytes, double gain_ns);
// Counts the time of a call whose buffers could have been promoted.
void note_call_time(std::uint64_t ns);

}  // namespace sumac
