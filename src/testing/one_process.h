// SPDX-License-Identifier: BSD-3-Clause
// These ranks live in one process, with their shared block and a way to reach each other's memory.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "transport/peer_memory.h"
#include "transport/shm/group.h"

namespace sumac::testing {

// All ranks live in one address space, and so does their memory. Direct algorithms see the buffers
// of two of three ranks in place and copy those of the third: an operation may meet both.
class LocalPeerMemory final : public PeerMemory {
 public:
  std::byte* view(int peer, std::uintptr_t address, std::size_t bytes) override {
    if (!is_shown(address, bytes)) strayed = true;
    const bool is_seen = unseen_of == 0 || peer % unseen_of != unseen_of - 1;
    return is_seen ? reinterpret_cast<std::byte*>(address) : nullptr;
  }
  bool read(int, std::uintptr_t address, void* to, std::size_t bytes) override {
    if (is_refused()) return false;
    std::memcpy(to, reinterpret_cast<const void*>(address), bytes);
    return true;
  }
  bool write(int, std::uintptr_t address, const void* from, std::size_t bytes) override {
    if (is_refused()) return false;
    std::memcpy(reinterpret_cast<void*>(address), from, bytes);
    return true;
  }

  // A test may say where ranks have something to see. It also asks whether a rank has looked
  // elsewhere.
  struct Range {
    std::uintptr_t begin, end;
  };
  const std::vector<Range>* shown = nullptr;
  bool strayed = false;
  // The memory of the last of so many ranks is copied and not seen; 0: all memory is seen.
  int unseen_of = 3;
  // One in so many copies is refused; 0: none.
  int refused_one_of = 0;

 private:
  bool is_refused() { return refused_one_of > 0 && copies_++ % refused_one_of == 0; }
  bool is_shown(std::uintptr_t address, std::size_t bytes) const {
    return !shown || bytes == 0 ||
           std::any_of(shown->begin(), shown->end(), [&](const Range& range) {
             return address >= range.begin && address + bytes <= range.end;
           });
  }

  std::atomic<int> copies_{0};  // several threads of a rank may copy
};

// This is the shared block of a group whose ranks live in one address space.
class TestBlock {
 public:
  TestBlock(int ranks, std::size_t ring, std::size_t slot_bytes, int lanes = 1,
            Control control = Control::slot) {
    layout_.ranks = ranks;
    layout_.ring = ring;
    layout_.slot_bytes = slot_bytes;
    layout_.lanes = lanes;
    layout_.turns = 2;
    layout_.control = control;
    const std::size_t bytes = layout_.block_bytes();
    memory_.reset(static_cast<std::byte*>(std::aligned_alloc(kPage, bytes)));
    std::memset(data(), 0xa5, bytes);
    clear_block(data(), layout_);
  }
  std::byte* data() const { return memory_.get(); }
  ShmGroup group(int rank, int lane = 0) const { return {data(), layout_, rank, lane}; }

 private:
  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
  };
  Layout layout_;
  std::unique_ptr<std::byte, Free> memory_;
};

}  // namespace sumac::testing
