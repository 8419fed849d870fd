// SPDX-License-Identifier: BSD-3-Clause
// Where XPMEM's module is loaded, the ranks of a node see each other's buffers as they are
// (transport/xpmem.h). A buffer in which that would end in a SIGBUS is told from others here.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sumac {

// Returns by which number other ranks find this process's memory; 0: there is no XPMEM, or
// SUMAC_PROMOTE does not allow it.
std::int64_t own_segment();

// Returns false if this process can no longer see others' memory, nor they its own. Must be asked
// in every call that uses XPMEM.
bool attaching_works();

// Returns true if others can read and write the buffer in place. The program must not be allowed to
// free it meanwhile.
//
// The kernel is asked what is mapped there, 0.3 to 0.7 us. Kernels before 6.11 tell only by
// /proc/self/maps, so a range that was found good is believed for some uses: where the program
// protects it meanwhile, another rank may end with SIGBUS.
bool can_be_attached(const void* address, std::size_t bytes);

// Returns how many buffers could be.
std::uint64_t buffers_attached();

}  // namespace sumac
