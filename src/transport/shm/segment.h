// SPDX-License-Identifier: BSD-3-Clause
// A segment is a file in memory without a name, its owner's alone. The other ranks open it through
// its owner's descriptor. However the job ends, nothing is left behind. The kernel gives a page
// memory when a process first touches it, as it does for a program's own memory: no limit but that
// of the job's memory applies, whatever /dev/shm is like.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/descriptor.h"

namespace sumac {

struct Segment {
  std::byte* memory = nullptr;
  std::size_t bytes = 0;
};

// Says where other processes of the same user find the file, and identifies it.
struct SegmentKey {
  std::int32_t pid = 0;
  FileIdentity file;
};

// Creates and maps a file of `bytes` bytes, a multiple of the page size. Returns null memory on
// failure. The descriptor stays open until close_segment.
Segment create_segment(std::size_t bytes, SegmentKey& key);

// Closes the owner's descriptor, once all ranks have mapped the file. The memory lives as long as a
// rank has it mapped.
void close_segment(const SegmentKey& key);

// Maps a file that another rank made. Returns null memory on failure: another PID namespace, or no
// access.
Segment open_segment(const SegmentKey& key, std::size_t bytes);

// Gives the pages of this memory that have none memory on the caller's NUMA node, and maps them, in
// one go where the kernel can (Linux 5.14). Calls then take no page fault for each of them.
void back_memory(std::byte* memory, std::size_t bytes);

// Returns the memory to the system though ranks still have the file mapped; it then reads as zero.
void discard_segment(const Segment& segment);

}  // namespace sumac
