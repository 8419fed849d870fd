// SPDX-License-Identifier: BSD-3-Clause
// The MPI gives the program shared memory on several ranks (MPI_Win_allocate_shared). All ranks of
// a window have mapped the same file, so each finds a peer's buffer in a mapping of its own:
// nothing is promoted, and no page is mapped once more.
//
// Idea   A rank tells others in what its buffer lies: by a word made of the file's device and
// inode,
//        the same on all ranks, and by the address at which the file's first byte would be
// Cost   Some comparisons for each use: the kernel is not asked
// Stale  A mapping is noted when its window is there and forgotten before that is freed.
//        MPI_Win_free returns on no rank before all of the window have called it, and a rank does
//        not call it while a buffer of its own in the window is in use. A rank that does not find
//        the mapping copies by the kernel
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "transport/peer_memory.h"

namespace sumac {

// A rank tells others by this in what its buffer lies.
struct SharedPlace {
  std::uint64_t file = 0;   // a word of device and inode; 0: the buffer lies in nothing noted
  std::uintptr_t base = 0;  // where the file's first byte would be
};

struct SharedMapping {
  std::uintptr_t begin = 0, end = 0;
  std::uint64_t offset = 0;  // where `begin` is in the file
  std::uint64_t file = 0;    // a word of device and inode; not 0

  SharedPlace place() const { return {file, begin - offset}; }
  bool operator==(const SharedMapping&) const = default;
};

// These are the shared mappings that this process has. Any thread may call the functions.
class SharedMappings {
 public:
  // A mapping may be added several times and is then removed as often.
  void add(const SharedMapping& mapping);
  void remove(const SharedMapping& mapping);

  // Returns the mapping that holds all of the buffer; `file` is 0 if there is none.
  SharedPlace place_of(const void* address, std::size_t bytes) const;
  // Returns where this process sees the bytes at `address` of a peer, which lie in a mapping of the
  // peer at `place`; null if it does not see them all.
  std::byte* find(const SharedPlace& place, std::uintptr_t address, std::size_t bytes) const;

 private:
  mutable std::mutex mutex_;
  std::atomic<std::size_t> count_{0};
  std::vector<SharedMapping> mappings_;
};
// Returns the mappings of the process.
SharedMappings& shared_mappings();

// This way to reach peers' memory also sees the buffers that one operation has told of.
class SharedViews final : public PeerMemory {
 public:
  explicit SharedViews(PeerMemory& other) : other_(other) {}
  void add(int peer, std::uintptr_t address, std::size_t bytes, const SharedPlace& place) {
    if (place.file != 0) buffers_.push_back({peer, address, address + bytes, place});
  }
  bool empty() const { return buffers_.empty(); }

  std::byte* view(int peer, std::uintptr_t address, std::size_t bytes) override;
  bool read(int peer, std::uintptr_t address, void* to, std::size_t bytes) override {
    return other_.read(peer, address, to, bytes);
  }
  bool write(int peer, std::uintptr_t address, const void* from, std::size_t bytes) override {
    return other_.write(peer, address, from, bytes);
  }

 private:
  struct Buffer {
    int peer;
    std::uintptr_t begin, end;
    SharedPlace place;
  };

  PeerMemory& other_;
  std::vector<Buffer> buffers_;
};

}  // namespace sumac
