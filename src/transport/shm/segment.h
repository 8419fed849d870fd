// SPDX-License-Identifier: BSD-3-Clause
// A shared-memory file without a name: owner-only, made in /dev/shm, reached by the other ranks
// through its owner's descriptor. Whenever a job ends, however it ends, nothing is left.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace sumac {

struct Segment {
  std::byte* memory = nullptr;
  std::size_t bytes = 0;
};

// Where other processes of the same user find the file, and proof that it is the one meant.
struct SegmentKey {
  std::int32_t pid = 0;
  std::int32_t descriptor = -1;
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
};

// `root` of the following is "" but in tests: in front of /dev/shm and /proc.

// Makes and maps a file of `bytes` (a multiple of the page size). Memory is null on failure.
// Reserves nothing yet: see reserve_segment. The descriptor stays open until close_segment.
Segment create_segment(std::size_t bytes, SegmentKey& key, const std::string& root = "");

// Its owner, when all ranks have mapped it. The memory lives as long as someone maps it.
void close_segment(const SegmentKey& key);

// Maps a file made by another rank. Memory is null on failure: another PID namespace, or no access.
Segment open_segment(const SegmentKey& key, std::size_t bytes, const std::string& root = "");

// Reserves the memory behind [offset, offset + bytes) (pages come from the caller's NUMA node), so
// that a full /dev/shm is an error here and not a SIGBUS later. Before close_segment.
bool reserve_segment(const SegmentKey& key, std::size_t offset, std::size_t bytes,
                     const std::string& root = "");

// Gives the memory back to the system though ranks still have the file mapped; it then reads zero.
void discard_segment(const Segment& segment);

}  // namespace sumac
