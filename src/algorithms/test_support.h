// SPDX-License-Identifier: BSD-3-Clause
// For tests of algorithms and levels: kernels whose results show how they were folded, and peers'
// memory in one process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "transport/peer_memory.h"
#include "transport/shm/group.h"

namespace sumac::testing {

// Commutative and associative: any order gives the serial result.
inline void sum_kernel(void* dst, const void* const* srcs, int num_srcs, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    std::uint32_t value = 0;
    for (int s = 0; s < num_srcs; ++s) value += static_cast<const std::uint32_t*>(srcs[s])[i];
    static_cast<std::uint32_t*>(dst)[i] = value;
  }
}

// Neither commutative nor associative: the result shows the tree in which an element was folded.
inline void tree_kernel(void* dst, const void* const* srcs, int num_srcs, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    std::uint32_t value = static_cast<const std::uint32_t*>(srcs[0])[i];
    for (int s = 1; s < num_srcs; ++s) {
      value = value * 31 + (static_cast<const std::uint32_t*>(srcs[s])[i] ^ 0x5bd1e995u) * 17 + 1;
    }
    static_cast<std::uint32_t*>(dst)[i] = value;
  }
}

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
  explicit TestBlock(const Layout& layout)
      : layout_(layout),
        memory_(static_cast<std::byte*>(std::aligned_alloc(kPage, layout.block_bytes()))) {
    std::memset(data(), 0xa5, layout.block_bytes());
    clear_block(data(), layout);
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
