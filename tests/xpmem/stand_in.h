// SPDX-License-Identifier: BSD-3-Clause
// What a stand-in for XPMEM's library can do besides (stand_in_xpmem.cc).
#pragma once

#include <cstddef>

extern "C" {
// Returns zeroed memory that other processes can attach; or null.
void* stand_in_allocate(std::size_t bytes, std::size_t alignment);
// Returns false if it is no such memory.
bool stand_in_free(void* memory);
// Returns the bytes of such memory from there on; 0 if it is none.
std::size_t stand_in_bytes(void* memory);
// Returns how many attachments this process has.
int stand_in_attachments();
// Ends all attachments, as the module does when a process closes its device.
void stand_in_close();
}
