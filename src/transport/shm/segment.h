// SPDX-License-Identifier: BSD-3-Clause
// A shared-memory file has no name and is its owner's alone. It is made in /dev/shm, and the other
// ranks open it through its owner's descriptor. However the job ends, nothing is left behind.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace sumac {

struct Segment {
  std::byte* memory = nullptr;
  std::size_t bytes = 0;
};

// Says where other processes of the same user find the file, and identifies it.
struct SegmentKey {
  std::int32_t pid = 0;
  std::int32_t descriptor = -1;
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
};

// `root`, in front of /dev/shm and /proc, is "" except in tests.

// Creates and maps a file of `bytes` bytes, a multiple of the page size. Returns null memory on
// failure. Does not reserve the memory (see reserve_segment). The descriptor stays open until
// close_segment.
Segment create_segment(std::size_t bytes, SegmentKey& key, const std::string& root = "");

// Closes the owner's descriptor, once all ranks have mapped the file. The memory lives as long as a
// rank has it mapped.
void close_segment(const SegmentKey& key);

// Maps a file that another rank made. Returns null memory on failure: another PID namespace, or no
// access.
Segment open_segment(const SegmentKey& key, std::size_t bytes, const std::string& root = "");

// Gives the pages of [offset, offset + bytes) memory, on the caller's NUMA node, and maps them, if
// the kernel can do that in one go (Linux 5.14). A full /dev/shm is then an error here and not a
// SIGBUS later. Call it before close_segment.
bool reserve_segment(const Segment& segment, const SegmentKey& key, std::size_t offset,
                     std::size_t bytes, const std::string& root = "");

// Has the kernel map pages that are reserved in one go, where it can (Linux 5.14): the first calls
// then take no page fault for each of them. Pages that are not reserved may come to exist.
void populate_segment(const Segment& segment);

// Returns the memory to the system though ranks still have the file mapped; it then reads as zero.
void discard_segment(const Segment& segment);

}  // namespace sumac
