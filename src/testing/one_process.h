// SPDX-License-Identifier: BSD-3-Clause
// Ranks that live in one process: their shared block, and how they reach each other's memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "transport/peer_memory.h"
#include "transport/shm/group.h"

namespace sumac::testing {

// Peers' memory where all ranks live in one address space. Odd ranks' buffers are seen in place,
// those of even ranks are copied: an operation may meet both.
class LocalPeerMemory final : public PeerMemory {
 public:
  const std::byte* view(int peer, std::uintptr_t address, std::size_t) override {
    return peer % 2 == 1 ? reinterpret_cast<const std::byte*>(address) : nullptr;
  }
  bool read(int, std::uintptr_t address, void* to, std::size_t bytes) override {
    std::memcpy(to, reinterpret_cast<const void*>(address), bytes);
    return true;
  }
  bool write(int, std::uintptr_t address, const void* from, std::size_t bytes) override {
    std::memcpy(reinterpret_cast<void*>(address), from, bytes);
    return true;
  }
};

// The shared block of a group whose ranks live in one address space.
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
