// SPDX-License-Identifier: BSD-3-Clause
// A POSIX shared-memory file mapped into this process: owner-only, randomly named, created with
// O_EXCL and unlinked as soon as all its ranks have mapped it.
#pragma once

#include <cstddef>

namespace sumac {

inline constexpr std::size_t kSegmentName = 32;

struct Segment {
  std::byte* memory = nullptr;
  std::size_t bytes = 0;
};

// Creates and maps a file of `bytes` (a multiple of the page size), writes its name to `name`.
// Memory is null on failure. Reserves nothing yet: see reserve_segment.
Segment create_segment(std::size_t bytes, char (&name)[kSegmentName]);

// Maps a file made by another rank of the same user. Memory is null on failure.
Segment open_segment(const char* name, std::size_t bytes);

// Reserves the memory behind [offset, offset + bytes) (pages come from the caller's NUMA node), so
// that a full /dev/shm is an error here and not a SIGBUS later. `name` as long as it is linked.
bool reserve_segment(const char* name, std::size_t offset, std::size_t bytes);

void unlink_segment(const char* name);

// Gives the memory back to the system though ranks still have the file mapped; it then reads zero.
void discard_segment(const Segment& segment);

}  // namespace sumac
